// Times in the user's own time zone and language. Without this, pages show them in UTC, which then stays as the
// tooltip. A time is a <time>, or the value that was filled into a sentence with data-time.
//
// Operators keep UTC: they compare what they see with the log, and ask for days of UTC.

const written = new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: "medium", timeStyle: "short" });
const isDesk = document.querySelector('main[data-state^="desk-"]') !== null;
const times = [...document.querySelectorAll("time[datetime]")].map((place) => [place, place.dateTime]);
const filled = [...document.querySelectorAll("[data-time]")].map((sentence) => [sentence.querySelector("bdi"), sentence.dataset.time]);

for (const [place, iso] of isDesk ? [] : [...times, ...filled]) {
  const at = new Date(iso);
  if (!place || Number.isNaN(at.getTime())) continue;
  place.title = place.textContent;
  place.textContent = written.format(at);
}
