"use strict";
// Graphs over time: values under one cursor in all graphs of a handoff, and a closer look at a part of the time. The
// values are read back from what is drawn, so the page holds no second copy of its numbers.
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const svgElement = (name, attributes) => {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return element;
  };

  // ------------------------------------------------------------------ paths

  // Parts of a path as absolute points; the pictures' pens write M, m, l, h, v and z alone.
  const parts = (text) => {
    const words = text.match(/[a-z]|-?(?:\d+\.?\d*|\.\d+)/gi) ?? [];
    const found = [];
    let [x, y, k] = [0, 0, 0];
    const number = () => Number(words[k++]);
    while (k < words.length) {
      const letter = words[k++];
      if (letter === "z") {
        const part = found[found.length - 1];
        part.closed = true;
        [x, y] = part.points[0];
        continue;
      }
      if (letter === "M") [x, y] = [0, 0];
      if (letter !== "v") x += number();
      if (letter !== "h") y += number();
      if (letter === "M" || letter === "m") found.push({ points: [], closed: false });
      found[found.length - 1].points.push([x, y]);
    }
    return found;
  };
  const path = (all) => all.map(({ points, closed }) =>
    `M${points.map(([x, y]) => `${x.toFixed(2)} ${y.toFixed(2)}`).join("L")}${closed ? "z" : ""}`).join("");
  const middle = (points) => {
    const xs = points.map(([x]) => x);
    const ys = points.map(([, y]) => y);
    return [(Math.min(...xs) + Math.max(...xs)) / 2, (Math.min(...ys) + Math.max(...ys)) / 2];
  };

  // ------------------------------------------------------------------ one graph

  const graphs = new WeakMap();
  const graphOf = (svg) => {
    if (!graphs.has(svg)) graphs.set(svg, read(svg));
    return graphs.get(svg);
  };
  const read = (svg) => {
    const plots = [...svg.querySelectorAll("[data-plot]")].map((place) => {
      const [left, top, right, bottom, from, to, low, high] = place.dataset.plot.split(" ").map(Number);
      return { left, top, right, bottom, from, to, low, high, unit: place.dataset.unit };
    });
    const [{ left, right, from, to }] = plots;
    const shapes = [...svg.querySelectorAll("path[data-p]")].map((element) => {
      const { p, as, name } = element.dataset;
      return { element, as, name, plot: plots[Number(p)], drawn: element.getAttribute("d"), parts: null };
    });
    return {
      svg, plots, shapes, left, right, from, to,
      handoff: Number(svg.querySelector("[data-plot]").dataset.handoff ?? NaN),
      labels: [...svg.querySelectorAll("text[data-x]")].map((element) => (
        { element, x: Number(element.getAttribute("x")), of: Number(element.dataset.x) })),
      ticks: [...svg.querySelectorAll("[data-tick]")],
      more: [],
      shown: [from, to],
    };
  };
  const partsOf = (shape) => (shape.parts ??= parts(shape.drawn));
  // Where a place of the whole graph is now.
  const now = (graph, x) => {
    const time = graph.from + (x - graph.left) / (graph.right - graph.left) * (graph.to - graph.from);
    const [a, b] = graph.shown;
    return graph.left + (time - a) / (b - a) * (graph.right - graph.left);
  };
  const whole = (graph) => graph.shown[0] === graph.from && graph.shown[1] === graph.to;

  const draw = (graph) => {
    for (const element of graph.more) element.remove();
    graph.more = [];
    const all = whole(graph);
    const add = (element, before) => {
      graph.svg.insertBefore(element, before ?? null);
      graph.more.push(element);
    };
    const clips = graph.plots.map((plot, index) => {
      if (all) return "";
      const id = `${graph.svg.querySelector("title").id}-clip-${index}`;
      const clip = svgElement("clipPath", { id });
      const { left, top, right, bottom } = plot;
      clip.append(svgElement("rect", { x: left, y: top - 8, width: right - left, height: bottom - top + 8 }));
      add(clip, graph.svg.querySelector("desc").nextSibling);
      return `url(#${id})`;
    });
    for (const shape of graph.shapes) {
      const { element, as, drawn, plot } = shape;
      if (all) {
        element.setAttribute("d", drawn);
        element.removeAttribute("clip-path");
        continue;
      }
      const moved = partsOf(shape).map(({ points, closed }) => {
        // A mark keeps its form, a line does not.
        const [x] = as === "mark" ? middle(points) : [0];
        const by = now(graph, x) - x;
        return { closed, points: points.map(([px, py]) => [as === "mark" ? px + by : now(graph, px), py]) };
      });
      element.setAttribute("d", path(moved));
      element.setAttribute("clip-path", clips[graph.plots.indexOf(plot)]);
    }
    for (const { element, x, of } of graph.labels) {
      const place = now(graph, of);
      element.setAttribute("x", x + place - of);
      element.style.display = place < graph.left - 0.1 || place > graph.right + 0.1 ? "none" : "";
    }
    for (const element of graph.ticks) element.style.display = all ? "" : "none";
    if (!all) ticks(graph, add);
  };
  const ticks = (graph, add) => {
    const [a, b] = graph.shown;
    const text = graph.ticks.find((tick) => tick.tagName === "text");
    const y = Number(text?.getAttribute("y") ?? 0);
    const { bottom } = graph.plots[graph.plots.length - 1];
    const rough = (b - a) / ((graph.right - graph.left) / 90);
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((digit) => digit * power).find((one) => one >= rough);
    const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
    for (let k = Math.ceil(a / step); k * step <= b; k += 1) {
      const x = graph.left + (k * step - a) / (b - a) * (graph.right - graph.left);
      add(svgElement("path", { d: `M${x} ${bottom}v3`, style: "stroke:var(--segue-muted)" }));
      const label = svgElement("text", { x, y, "text-anchor": "middle", style: "fill:var(--segue-muted)" });
      label.textContent = (k * step).toFixed(decimals);
      add(label);
    }
  };

  // ------------------------------------------------------------------ values

  const BESIDE = 3; // px beside the cursor that still count
  const inWords = (value, plot, bits) => {
    const { unit, top, bottom, low, high } = plot;
    const least = (high - low) / (bottom - top) / 10; // what a tenth of a pixel stands for
    if (unit === "s") return `${(value * 1000).toFixed(least < 1e-3 ? 1 : 0)} ms`;
    if (unit === "kbit/s") return `${Math.round(value)} kbit/s`;
    if (bits) return `${value.toFixed(least < 0.05 ? 1 : 0)}`;
    return `${least > 0.5 ? "about " : ""}${Math.round(value)}`;
  };
  const valueAt = (plot, y) => plot.low + (plot.bottom - y) / (plot.bottom - plot.top) * (plot.high - plot.low);
  // The value that a line in steps has at a place; the last where it rises or falls there.
  const lineAt = (shape, x) => {
    let y = null;
    for (const { points } of partsOf(shape)) {
      for (let k = 1; k < points.length; k += 1) {
        const [[ax, ay], [bx, by]] = [points[k - 1], points[k]];
        if (ay === by && ax <= x && x <= bx) y = ay;
      }
    }
    return y === null ? null : inWords(valueAt(shape.plot, y), shape.plot, shape.name === "cwnd");
  };
  // How long the bar lasts that covers a place.
  const spanAt = (graph, shape, x) => {
    for (const { points } of partsOf(shape)) {
      const xs = points.map(([px]) => px);
      const [left, right] = [Math.min(...xs), Math.max(...xs)];
      if (x < left || x > right) continue;
      const long = (right - left) / (graph.right - graph.left) * (graph.to - graph.from);
      return `of ${long.toFixed(2)} s`;
    }
    return null;
  };
  // The mark nearest to a place, by name.
  const markAt = (graph, shape, x, y) => {
    let [nearest, best] = [null, Infinity];
    for (const { points } of partsOf(shape)) {
      const [mx, my] = middle(points);
      const beside = Math.abs(now(graph, mx) - x);
      if (beside > BESIDE) continue;
      const distance = 4 * beside + (y === null ? 0 : Math.abs(my - y));
      if (distance < best) [nearest, best] = [points, distance];
    }
    if (!nearest) return null;
    const { plot } = shape;
    if (plot.unit === "s") return inWords(valueAt(plot, middle(nearest)[1]), plot);
    if (shape.as === "run") {
      const ys = nearest.map(([, py]) => py);
      const first = Math.round(valueAt(plot, Math.max(...ys)));
      const last = Math.round(valueAt(plot, Math.min(...ys))) - 1;
      return last > first ? `${first} to ${last}` : inWords(first, plot);
    }
    // A packet is drawn in the middle between its number and the next.
    return inWords(valueAt(plot, middle(nearest)[1]) - (shape.element.dataset.middle === undefined ? 0 : 0.5), plot);
  };
  const values = (graph, time, y) => {
    const x = graph.left + (time - graph.from) / (graph.to - graph.from) * (graph.right - graph.left);
    const said = [];
    for (const shape of graph.shapes) {
      if (!shape.name) continue;
      let value = null;
      if (shape.as === "line") value = lineAt(shape, x);
      else if (shape.as === "span") value = spanAt(graph, shape, x);
      else value = markAt(graph, shape, now(graph, x), y);
      if (value !== null) said.push(`${shape.name} ${value}`);
    }
    return said.join(", ");
  };

  // ------------------------------------------------------------------ graphs that share a cursor

  const groups = new WeakMap();
  const graphsIn = (place) => [...place.querySelectorAll("svg:has([data-plot])")].map(graphOf);
  const timeInWords = (time, handoff) => {
    const after = (time - handoff) * 1000;
    const places = Math.abs(after) < 100 ? 1 : 0;
    const part = Number.isNaN(handoff) ? "" : ` (T ${after < 0 ? "\u2212" : "+"} ${Math.abs(after).toFixed(places)} ms)`;
    return `${time.toFixed(3)} s${part}`;
  };

  const group = (place) => {
    const state = { view: null, time: null };
    const bar = document.createElement("div");
    bar.className = "times";
    bar.setAttribute("role", "group");
    bar.setAttribute("aria-label", "Time in the graphs");
    const slider = Object.assign(document.createElement("input"), { type: "range", min: 0, max: 1000, step: 1, value: 0 });
    slider.setAttribute("aria-label", "Time");
    const said = document.createElement("output");
    said.textContent = "time: move over a graph, or use the arrow keys; drag to zoom";
    const button = (words, act) => {
      const one = Object.assign(document.createElement("button"), { type: "button", textContent: words });
      one.addEventListener("click", act);
      return one;
    };

    const span = () => {
      if (state.view) return state.view;
      const all = graphsIn(place);
      return [Math.min(...all.map(({ from }) => from)), Math.max(...all.map(({ to }) => to))];
    };
    const point = (time, over, y) => {
      state.time = time;
      const [a, b] = span();
      slider.value = 1000 * (time - a) / (b - a);
      for (const graph of graphsIn(place)) cursor(graph, time, graph === over ? y : null);
      const handoff = graphsIn(place)[0]?.handoff ?? NaN;
      said.textContent = timeInWords(time, handoff);
      slider.setAttribute("aria-valuetext", said.textContent);
    };
    const look = (from, to) => {
      state.view = null;
      const [a, b] = span();
      const [low, high] = [Math.max(a, from), Math.min(b, to)];
      state.view = high - low < 1e-5 || (low === a && high === b) ? null : [low, high];
      for (const graph of graphsIn(place)) {
        graph.shown = state.view ?? [graph.from, graph.to];
        draw(graph);
      }
      if (state.time !== null) point(Math.min(Math.max(state.time, span()[0]), span()[1]), null, null);
    };
    const zoom = (factor) => {
      const [a, b] = span();
      const centre = state.time ?? (a + b) / 2;
      // The cursor stays where it is on the screen.
      look(centre - (centre - a) * factor, centre + (b - centre) * factor);
    };
    const all = () => look(-Infinity, Infinity);

    slider.addEventListener("input", () => {
      const [a, b] = span();
      point(a + (b - a) * slider.value / 1000, null, null);
    });
    bar.addEventListener("keydown", (event) => {
      const act = { "+": () => zoom(0.5), "-": () => zoom(2), "0": all, Escape: all }[event.key];
      if (!act) return;
      event.preventDefault();
      act();
    });
    bar.append(slider, button("Zoom in", () => zoom(0.5)), button("Zoom out", () => zoom(2)), button("Whole time", all), said);
    place.prepend(bar);

    // By pointer: what is under it, and from where to where a button was held.
    let held = null;
    const under = (event) => {
      const svg = event.target.closest?.("svg:has([data-plot])");
      if (!svg) return null;
      const graph = graphOf(svg);
      const scale = svg.viewBox.baseVal.width / svg.getBoundingClientRect().width;
      const box = svg.getBoundingClientRect();
      const [x, y] = [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
      if (x < graph.left - 1 || x > graph.right + 1) return null;
      const [a, b] = graph.shown;
      return { graph, y, time: a + (x - graph.left) / (graph.right - graph.left) * (b - a) };
    };
    place.addEventListener("pointermove", (event) => {
      const found = under(event);
      if (!found) return;
      point(found.time, found.graph, found.y);
      if (held?.graph === found.graph) select(found.graph, held.time, found.time);
    });
    place.addEventListener("pointerdown", (event) => {
      const found = under(event);
      if (!found) return;
      point(found.time, found.graph, found.y);
      if (event.pointerType === "touch" || event.button !== 0) return;
      held = found;
      event.preventDefault(); // no text is selected
    });
    addEventListener("pointerup", (event) => {
      if (!held) return;
      const { graph, time } = held;
      held = null;
      select(graph, 0, 0);
      const found = under(event);
      const [a, b] = graph.shown;
      if (found?.graph === graph && Math.abs(found.time - time) > (b - a) / 100) {
        look(Math.min(time, found.time), Math.max(time, found.time));
      }
    });
    place.addEventListener("dblclick", (event) => {
      if (under(event)) all();
    });
    return state;
  };
  const placeOf = (graph, time) =>
    graph.left + (time - graph.shown[0]) / (graph.shown[1] - graph.shown[0]) * (graph.right - graph.left);
  const cursor = (graph, time, y) => {
    graph.cursor ??= graph.plots.map(({ top, bottom }) => {
      const line = svgElement("path", { class: "cursor", d: `M0 ${top}V${bottom}` });
      graph.svg.append(line);
      return line;
    });
    const seen = time >= graph.shown[0] && time <= graph.shown[1];
    for (const line of graph.cursor) {
      line.style.display = seen ? "" : "none";
      line.setAttribute("transform", `translate(${placeOf(graph, time).toFixed(1)} 0)`);
    }
    const figure = graph.svg.closest("figure");
    let readout = figure?.querySelector(".readout");
    if (figure && !readout) {
      readout = document.createElement("div");
      readout.className = "readout";
      figure.querySelector(".picture").after(readout);
    }
    if (readout) readout.textContent = seen ? `${time.toFixed(3)} s: ${values(graph, time, y) || "nothing"}` : "";
  };
  const select = (graph, from, to) => {
    graph.selected?.remove();
    graph.selected = null;
    if (from === to) return;
    const [x, end] = [placeOf(graph, from), placeOf(graph, to)].sort((a, b) => a - b);
    const { top } = graph.plots[0];
    const { bottom } = graph.plots[graph.plots.length - 1];
    graph.selected = svgElement("rect", { class: "selected", x, y: top, width: end - x, height: bottom - top });
    graph.svg.append(graph.selected);
  };

  // A picture of its own has a cursor of its own.
  const prepare = () => {
    for (const svg of document.querySelectorAll("svg:has([data-plot])")) {
      const place = svg.closest(".timed") ?? svg.closest("figure");
      if (!place) continue;
      if (!groups.has(place)) groups.set(place, group(place));
      const { view } = groups.get(place);
      const graph = graphOf(svg);
      // A form of the picture that was not shown when the others were zoomed.
      const wanted = view ?? [graph.from, graph.to];
      if (wanted.some((time, k) => time !== graph.shown[k])) {
        graph.shown = wanted;
        draw(graph);
      }
    }
  };
  document.addEventListener("segue-fitted", prepare);
  prepare();
})();
