// Sends the answer to the client. The button is for browsers without scripts.

document.getElementById("answer").submit();
