
"use strict";
const said = document.getElementById("said");
let pinned = null;
function choose(leaf, far) {
  for (const old of document.querySelectorAll(".leaf.on")) old.classList.remove("on");
  said.textContent = leaf ? leaf.dataset.say : "None is chosen.";
  if (!leaf) return;
  leaf.classList.add("on");
  const others = leaf.dataset.to.split(" ").map((id) => id && document.getElementById(id)).filter(Boolean);
  for (const other of others) other.classList.add("on");
  if (far && others.length) others[0].scrollIntoView({ block: "nearest" });
}
const leafOf = (event) => event.target.closest && event.target.closest(".leaf");
document.addEventListener("mouseover", (event) => {
  const leaf = leafOf(event);
  if (leaf && !pinned) choose(leaf, false);
});
document.addEventListener("focusin", (event) => {
  const leaf = leafOf(event);
  if (leaf && leaf !== pinned) { pinned = null; choose(leaf, true); }
});
document.addEventListener("click", (event) => {
  const leaf = leafOf(event);
  if (!leaf) return;
  event.preventDefault();
  pinned = leaf;
  choose(leaf, true);
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") { pinned = null; choose(null, false); }
});
