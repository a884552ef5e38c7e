//! Cells: the points of a sweep, in the order in which its axes and their values are declared.

use crate::spec::{CELL, Experiment, Key, NamedCell, Point, Target};

/// One point of a sweep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// What the sweep set, in its order: key and canonical value.
    pub swept: Vec<(String, String)>,
    /// The network and the flow.
    pub point: Point,
    /// The same without what disturbs it, for cells of a list.
    pub twin: Option<Box<Point>>,
    /// What disturbs it.
    pub kind: Option<String>,
}

impl Cell {
    /// The leaves that the sweep sets in the arm of this name.
    pub(crate) fn leaves_of(&self, arm: &str) -> Vec<(String, String)> {
        let own = self.swept.iter().filter_map(|(key, value)| {
            let path = key.strip_prefix(arm)?.strip_prefix('.')?;
            (Key::find(key).is_none()).then(|| (path.to_owned(), value.clone()))
        });
        own.collect()
    }

    /// Values alone, for tables: `25ms 32MB`.
    pub fn values(&self) -> String {
        self.swept.iter().map(|(_, value)| value.as_str()).collect::<Vec<_>>().join(" ")
    }

    /// Short text for messages: `path.rtt=25ms flow.bytes=32MB`.
    pub fn title(&self) -> String {
        let parts: Vec<String> = self.swept.iter().map(|(key, value)| format!("{key}={value}")).collect();
        if parts.is_empty() { "the only cell".to_owned() } else { parts.join(" ") }
    }
}

/// All cells; the last axis varies fastest.
pub fn cells(experiment: &Experiment) -> Vec<Cell> {
    let mut cells: Vec<Cell> = experiment.cells.iter().map(|cell| named(experiment, cell)).collect();
    if cells.is_empty() {
        cells.push(Cell { swept: Vec::new(), point: experiment.point.clone(), twin: None, kind: None });
    }
    for axis in &experiment.sweep {
        let mut wider = Vec::with_capacity(cells.len() * axis.values.len());
        for cell in &cells {
            for value in &axis.values {
                let mut next = cell.clone();
                next.swept.push((axis.key.clone(), value.clone()));
                if let Ok(Target::Point(key)) = experiment.target(&axis.key) {
                    let points = core::iter::once(&mut next.point).chain(next.twin.as_deref_mut());
                    points.for_each(|point| drop(key.set(point, value).expect("values of a sweep were checked")));
                }
                wider.push(next);
            }
        }
        cells = wider;
    }
    cells
}

/// A cell of a list, and its twin.
fn named(experiment: &Experiment, cell: &NamedCell) -> Cell {
    let set = |point: &Point, settings: &[(String, String)]| {
        let mut point = point.clone();
        for (key, value) in settings {
            let key = Key::find(key).expect("keys of cells were checked");
            key.set(&mut point, value).expect("values of cells were checked");
        }
        if !point.company.is_empty() {
            // It has no effect then, and is not part of a run's record.
            point.flow = Point::default().flow;
        }
        point
    };
    let twin = set(&experiment.point, &cell.base);
    Cell {
        swept: vec![(CELL.to_owned(), cell.name.clone())],
        point: set(&twin, &cell.disturb),
        twin: (!cell.disturb.is_empty()).then(|| Box::new(twin)),
        kind: Some(cell.kind.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec;
    use crate::spec::Overrides;

    #[test]
    fn cells_are_the_product_in_declared_order() {
        let found = cells(&spec::builtin("wan").unwrap());
        let titles: Vec<String> = found.iter().map(Cell::title).collect();
        assert_eq!(titles.len(), 8);
        assert_eq!(titles[0], "path.rtt=25ms flow.bytes=32MB");
        assert_eq!(titles[1], "path.rtt=25ms flow.bytes=128MB");
        assert_eq!(titles[7], "path.rtt=200ms flow.bytes=128MB");
        assert_eq!(found[7].point.rtt, base::Duration::from_millis(200));
    }

    #[test]
    fn without_a_sweep_there_is_one_cell() {
        let mut experiment = spec::builtin("wan").unwrap();
        experiment.sweep.clear();
        assert_eq!(cells(&experiment).iter().map(Cell::title).collect::<Vec<_>>(), ["the only cell"]);
    }

    #[test]
    fn a_swept_leaf_reaches_its_arm_and_no_other() {
        let mut experiment = spec::builtin("wan").unwrap();
        let set = vec!["path.rtt=25ms".into(), "flow.bytes=1MB".into(), "longhaul.ack.delay=10ms,40ms".into()];
        experiment.apply(&Overrides { set, ..Overrides::default() }).unwrap();
        let found = cells(&experiment);
        assert_eq!(found.len(), 2);
        assert_eq!(found[1].leaves_of("longhaul"), [("ack.delay".to_owned(), "40ms".to_owned())]);
        assert_eq!(found[1].leaves_of("server-2022"), []);
        assert_eq!(found[0].point, found[1].point);
    }
}
