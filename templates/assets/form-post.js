// Sends the response to the client. The button is for browsers without scripts.

document.getElementById("answer").submit();
