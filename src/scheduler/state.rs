//! States and the legal moves between them (section 3 of the rules, T6, R-C1, R-A5).

use std::fmt::{self, Write as _};

/// The state of a run, stage, group, member, wait or gate, as the API names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(u8)]
#[expect(missing_docs, reason = "the API's own words")]
pub enum State {
    #[default]
    NotStarted,
    Pending,
    Running,
    Stopping,
    Stopped,
    Skipped,
    Failed,
    Completed,
}

impl State {
    /// All states, in the API's order.
    pub const ALL: [Self; 8] = [
        Self::NotStarted,
        Self::Pending,
        Self::Running,
        Self::Stopping,
        Self::Stopped,
        Self::Skipped,
        Self::Failed,
        Self::Completed,
    ];

    /// Whether a completedTime goes with the state (R-C13).
    pub const fn is_ended(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Skipped)
    }

    /// The state's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NotStarted => "NotStarted",
            Self::Pending => "Pending",
            Self::Running => "Running",
            Self::Stopping => "Stopping",
            Self::Stopped => "Stopped",
            Self::Skipped => "Skipped",
            Self::Failed => "Failed",
            Self::Completed => "Completed",
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What a state belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the API's own words")]
pub enum NodeKind {
    Run,
    Stage,
    Group,
    Member,
    Gate,
    Wait,
}

impl NodeKind {
    /// All kinds, from the outside in.
    pub const ALL: [Self; 6] =
        [Self::Run, Self::Stage, Self::Group, Self::Member, Self::Gate, Self::Wait];

    /// The word with which the kind's events begin.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Stage => "stage",
            Self::Group => "group",
            Self::Member => "member",
            Self::Gate => "gate",
            Self::Wait => "wait",
        }
    }

    /// The legal moves: one row a state. A new state does not compile until it has its rows.
    pub const fn moves(self, from: State) -> &'static [State] {
        use State as S;
        match (self, from) {
            (Self::Run, S::NotStarted) => &[S::Running],
            (Self::Run, S::Pending) => {
                &[S::Running, S::Stopping, S::Stopped, S::Failed, S::Completed, S::Skipped]
            }
            (Self::Run, S::Running) => {
                &[S::Pending, S::Stopping, S::Stopped, S::Failed, S::Completed, S::Skipped]
            }
            (Self::Run, S::Stopping) => &[S::Stopped, S::Failed],
            (Self::Run, S::Stopped | S::Failed) => &[S::Running],
            (Self::Run, S::Skipped | S::Completed) => &[],

            (Self::Stage | Self::Group, S::NotStarted) => &[S::Running, S::Skipped],
            (Self::Stage | Self::Group, S::Pending) => {
                &[S::Running, S::Stopping, S::Stopped, S::Failed, S::Completed, S::Skipped]
            }
            (Self::Stage | Self::Group, S::Running) => {
                &[S::Pending, S::Stopping, S::Stopped, S::Failed, S::Completed, S::Skipped]
            }
            (Self::Stage | Self::Group, S::Stopping) => {
                &[S::Stopped, S::Failed, S::Completed, S::Skipped]
            }
            // Reopened by a restart; what a trial or a stop at that instant brings comes first.
            (Self::Stage | Self::Group, S::Stopped) => {
                &[S::Running, S::Pending, S::Stopping, S::Failed, S::Completed, S::Skipped]
            }
            (Self::Stage | Self::Group, S::Failed) => {
                &[S::Running, S::Pending, S::Stopping, S::Stopped, S::Completed, S::Skipped]
            }
            (Self::Stage | Self::Group, S::Skipped | S::Completed) => &[],

            (Self::Member, S::NotStarted) => &[S::Pending, S::Running, S::Skipped, S::Failed],
            (Self::Member, S::Pending) => &[S::Running, S::Skipped, S::Failed],
            (Self::Member, S::Running) => &[S::Completed, S::Failed],
            (Self::Member, S::Failed) => &[S::NotStarted],
            (Self::Member, S::Stopping | S::Stopped) => &[],
            (Self::Member, S::Skipped | S::Completed) => &[],

            (Self::Gate, S::NotStarted) => &[S::Pending, S::Skipped],
            (Self::Gate, S::Pending) => &[S::Completed, S::Skipped],
            (Self::Gate, S::Running | S::Stopping | S::Stopped | S::Failed) => &[],
            (Self::Gate, S::Skipped | S::Completed) => &[],

            (Self::Wait, S::NotStarted) => &[S::Running, S::Skipped],
            (Self::Wait, S::Running) => &[S::Completed, S::Skipped],
            (Self::Wait, S::Pending | S::Stopping | S::Stopped | S::Failed) => &[],
            (Self::Wait, S::Skipped | S::Completed) => &[],
        }
    }

    /// Whether a move is legal.
    #[inline]
    pub const fn may_go(self, from: State, to: State) -> bool {
        MOVES[self as usize][from as usize] & (1 << to as u8) != 0
    }

    /// The moves as a Markdown table: rows are where from, columns where to.
    pub fn table(self) -> String {
        let reachable = |state: &State| {
            *state == State::NotStarted || State::ALL.iter().any(|from| self.may_go(*from, *state))
        };
        let states: Vec<State> = State::ALL.into_iter().filter(reachable).collect();
        let mut table = format!("| {} |", self.word());
        for to in &states {
            write!(table, " {to} |").expect("strings take all");
        }
        write!(table, "\n|---|{}", "---|".repeat(states.len())).expect("strings take all");
        for from in &states {
            write!(table, "\n| {from} |").expect("strings take all");
            for to in &states {
                table.push_str(if self.may_go(*from, *to) { " ● |" } else { "  |" });
            }
        }
        table
    }
}

/// The table as bits: for each kind and state, the states it may go to.
const MOVES: [[u8; 8]; 6] = {
    let mut bits = [[0; 8]; 6];
    let mut kind = 0;
    while kind < 6 {
        let mut from = 0;
        while from < 8 {
            let moves = NodeKind::ALL[kind].moves(State::ALL[from]);
            let mut to = 0;
            while to < moves.len() {
                bits[kind][from] |= 1 << moves[to] as u8;
                to += 1;
            }
            from += 1;
        }
        kind += 1;
    }
    bits
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t6_completed_and_skipped_runs_are_final() {
        for state in [State::Completed, State::Skipped] {
            assert!(NodeKind::Run.moves(state).is_empty());
        }
    }

    #[test]
    fn t6_stopping_leads_to_stopped_or_failed_only() {
        assert_eq!(NodeKind::Run.moves(State::Stopping), [State::Stopped, State::Failed]);
    }

    #[test]
    fn r_c12_members_are_never_stopping_or_stopped() {
        for from in State::ALL {
            assert!(!NodeKind::Member.may_go(from, State::Stopping));
            assert!(!NodeKind::Member.may_go(from, State::Stopped));
        }
    }
}
