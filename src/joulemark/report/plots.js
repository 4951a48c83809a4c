"use strict";
// A page holds its data and the plotting library compressed.
async function unpack(id) {
  const bytes = Uint8Array.from(atob(document.getElementById(id).textContent), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}

const STYLE = {
  background: "transparent",
  axis: { gridOpacity: 0.25, titlePadding: 10, titleFontWeight: "normal", labelFontSize: 11, titleFontSize: 12 },
};

// Follow the reader's colour theme; on a phone, legends have room for one column.
function plot(id, specification) {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const options = { actions: false, renderer: "svg", theme: dark ? "dark" : undefined, config: STYLE };
  const place = document.getElementById(id);
  if (place.clientWidth < 480) {
    specification.config.legend.columns = 1;
    specification.config.legend.direction = "vertical";
  }
  return vegaEmbed(place, specification, options);
}

// Draw one plot at a time, so that the page stays responsive.
async function plots(specifications) {
  const library = document.createElement("script");
  library.textContent = await unpack("vega");
  document.head.append(library);
  for (const [id, specification] of Object.entries(specifications)) {
    await plot(id, specification);
    await new Promise((resume) => setTimeout(resume));
  }
  document.documentElement.setAttribute("data-plots", "drawn");
}
