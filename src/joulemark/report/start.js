"use strict";
async function start() {
  const data = JSON.parse(await unpack("data"));
  const columns = data.columns.map(column);
  cases(columns);
  document.documentElement.setAttribute("data-cases", "drawn");
  window.adviser = adviser(columns, data.choice);
  document.documentElement.setAttribute("data-choices", "drawn");
  await plots(data.plots);
}
start();
