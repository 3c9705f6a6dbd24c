//! A drive: the cells that the mobile is in, what comes to it, and how long it waits for more. One plot per sender, all
//! over one time axis.

use crate::about::{About, Size};
use crate::axis::{Axis, Spacing};
use crate::canvas::{Anchor, Area, Canvas, LINE, Pen, Place, Stroke};
use crate::frame::{self, Vertical};
use crate::legend::{self, Sample};
use crate::look::Series;
use crate::moments::{Panel, Point, Shown, extremes, note, tag};
use crate::palette::{self, Role};
use crate::text;

/// A time in one cell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cell {
    /// Which of [`Journey::networks`].
    pub network: usize,
    /// The link comes up, s.
    pub from: f64,
    /// The link is gone, s.
    pub until: f64,
    /// Shown when pointed at, such as its link.
    pub label: String,
}

/// The data that one sender brings to the mobile.
#[derive(Clone, Debug, PartialEq)]
pub struct Course {
    /// Name, hue and marker.
    pub series: Series,
    /// Time in s, and the throughput from then on.
    pub throughput: Vec<Point>,
    /// Waits for data, s.
    pub stalls: Vec<(f64, f64)>,
}

/// A drive with several senders.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Journey {
    /// Id, title and description.
    pub about: About,
    /// Length of the drive, s.
    pub length: f64,
    /// Names of the networks, from top to bottom.
    pub networks: Vec<String>,
    /// In order; between them there is no link.
    pub cells: Vec<Cell>,
    /// Title of the vertical axes, such as `throughput, kbit/s`.
    pub measure: String,
    /// From top to bottom.
    pub courses: Vec<Course>,
}

/// Cells: a network's neighbours have another colour each, so that a handoff within it is seen.
const CELLS: [Role; 2] = [palette::OLD_LINK, palette::NEW_LINK];
/// Height of a network's row and of the strip of stalls, px.
const ROW: f64 = 17.0;
const STRIP: f64 = 7.0;

impl Journey {
    /// The picture.
    pub fn svg(&self, size: Size) -> String {
        self.drawn(size).finish(&self.about)
    }

    pub(crate) fn drawn(&self, size: Size) -> Canvas {
        let mut canvas = Canvas::new(size);
        let top = frame::heading(&mut canvas, &self.about);
        let top = legend::draw(&mut canvas, top, &self.entries());
        let font = canvas.font();
        let names = self.networks.iter().map(|name| text::width(name, font)).fold(0.0, f64::max) + 10.0;
        let high = self.highest();
        let verticals: Vec<Vertical> =
            self.courses.iter().map(|course| self.vertical(course, high)).collect();
        let count = verticals.len().max(1) as f64;
        let rows = ROW * self.networks.len() as f64;
        let below = frame::below(&canvas);
        let height = ((canvas.height() - below - top - rows - 8.0) / count).max(2.0);
        let strip = frame::strip(&canvas) + STRIP;
        let margins = verticals.iter().map(|vertical| vertical.margin(&canvas, height - strip));
        let left = margins.fold(names.min(canvas.width() / 3.0), f64::max);
        let right = canvas.width() - 14.0;
        let across = |area: Area| Axis::new(Spacing::Linear, 0.0, self.length, area.left, area.right);
        let cells = frame::plot_area(left, top, right, top + rows);
        self.draw_cells(&mut canvas, cells, &across(cells));
        // The cells are plot 0.
        for (index, (course, vertical)) in (1..).zip(self.courses.iter().zip(&verticals)) {
            let top = cells.bottom + 8.0 + height * (index - 1) as f64;
            let area = frame::plot_area(left, top + strip, right, top + height - 8.0);
            let time = across(area);
            canvas.tagged(&tag(index, Shown::Line, ""), |canvas| self.shade(canvas, area, &time));
            let value = vertical.draw(&mut canvas, area, top + font * LINE / 2.0);
            if index == self.courses.len() {
                frame::draw_horizontal(&mut canvas, area, &time, "time, s");
            } else {
                frame::baseline(&mut canvas, area);
            }
            note(&mut canvas, area, &time, &value, "kbit/s", None);
            draw_stalls(&mut canvas, area, &time, index, course);
            let panel = Panel::new(index, area, time, value);
            panel.draw(&mut canvas, Shown::Line, &course.series.label, |canvas| {
                let role = course.series.look.role();
                canvas.stroke(panel.steps(&course.throughput).path(), Stroke::new(role, 1.3));
            });
        }
        canvas
    }

    fn vertical(&self, course: &Course, high: f64) -> Vertical {
        let label = format!("{}: {}", course.series.label, self.measure);
        Vertical { label, spacing: Spacing::Linear, low: 0.0, high, whole: false }
    }

    /// All plots have one scale.
    fn highest(&self) -> f64 {
        let all = self.courses.iter().flat_map(|course| course.throughput.iter().map(|point| point.value));
        let (_, most) = extremes(all.chain([1.0]));
        most * 1.06
    }

    fn entries(&self) -> Vec<(Sample, String)> {
        let mut entries = Vec::new();
        if !self.cells.is_empty() {
            entries.push((Sample::Block(CELLS[0].css()), "cell".to_string()));
            entries.push((Sample::Block(CELLS[1].css()), "next cell".to_string()));
            entries.push((Sample::Block(palette::SHADE.css()), "no link".to_string()));
        }
        if self.courses.iter().any(|course| !course.stalls.is_empty()) {
            entries.push((Sample::Block(palette::RETRANSMISSION.css()), "stall".to_string()));
        }
        entries
    }

    fn draw_cells(&self, canvas: &mut Canvas, area: Area, time: &Axis) {
        for (row, name) in self.networks.iter().enumerate() {
            let y = area.top + ROW * (row as f64 + 0.5);
            let name = text::shorten(name, canvas.font(), area.left - 8.0);
            canvas.label(&name, palette::MUTED, &[Place::new(area.left - 5.0, y, Anchor::End)]);
        }
        let rows = Axis::new(Spacing::Linear, 0.0, 1.0, area.bottom, area.top);
        note(canvas, area, time, &rows, "", None);
        for (index, cell) in self.cells.iter().enumerate() {
            if cell.network >= self.networks.len() || !(cell.from <= self.length && cell.until > cell.from) {
                continue;
            }
            let top = area.top + ROW * cell.network as f64 + 1.5;
            let mut pen = Pen::default();
            let (left, right) = (time.at(cell.from), time.at(cell.until));
            pen.rectangle(Area { left, right, top, bottom: top + ROW - 3.0 });
            canvas.explained(&cell.label, |canvas| {
                canvas.tagged(&tag(0, Shown::Line, ""), |canvas| {
                    canvas.fill(pen.path(), &CELLS[index % 2].css(), 0.75);
                });
            });
        }
    }

    /// Times without a link.
    fn shade(&self, canvas: &mut Canvas, area: Area, time: &Axis) {
        let ends = self.cells.iter().map(|cell| cell.until);
        let begins = self.cells.iter().skip(1).map(|cell| cell.from).chain([self.length]);
        for (from, to) in ends.zip(begins).filter(|(from, to)| to > from) {
            let mut pen = Pen::default();
            pen.rectangle(Area { left: time.at(from), right: time.at(to), ..area });
            canvas.fill(pen.path(), &palette::SHADE.css(), 1.0);
        }
    }
}

/// Waits, in a strip above the plot.
fn draw_stalls(canvas: &mut Canvas, area: Area, time: &Axis, index: usize, course: &Course) {
    let mut pen = Pen::default();
    let shown = course.stalls.iter().filter(|(from, until)| until > from && time.has(*from));
    for (from, until) in shown {
        // A short one is seen, too.
        let (left, right) = (time.at(*from), time.at(*until).max(time.at(*from) + 0.4));
        pen.rectangle(Area { left, right, top: area.top - STRIP, bottom: area.top - 1.5 });
    }
    canvas.tagged(&tag(index, Shown::Line, ""), |canvas| {
        canvas.fill(pen.path(), &palette::RETRANSMISSION.css(), 1.0);
    });
}
