//! Random sequences of steps. The numbers of a step get their meaning when it is taken: they choose among
//! what is there at that time. So a sequence stays valid when steps are left out.

/// Numbers that look random and are the same for the same seed (SplitMix64).
#[derive(Debug)]
pub(super) struct Dice(u64);

impl Dice {
    pub(super) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) const fn throw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number less than `end`.
    pub(super) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.throw() % u64::try_from(end.max(1)).unwrap()).unwrap()
    }

    /// True in this percentage of cases.
    pub(super) fn happens(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(super) fn one<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}

/// One step. Its own dice begin with `seed`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) act: Act,
    pub(super) seed: u64,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Act {
    /// A client sends a browser to us, with parameters in the URL or with a pushed request.
    Authorize,
    /// A device begins, and a user types its code.
    Device,
    /// A user signs for a pending request.
    Sign,
    /// A user presses Continue.
    GoOn,
    /// A user presses Deny.
    Deny,
    /// A client redeems a code, its own or another one's.
    Redeem,
    /// A device asks for its tokens.
    Poll,
    /// A client refreshes its tokens.
    Refresh,
    /// A program signs in.
    Program,
    /// A client asks for tokens of its own.
    OfItself,
    /// A client or a resource server introspects a token.
    AskAbout,
    /// A user revokes a client's access.
    TakeBack,
    /// A user links a wallet.
    Link,
    /// A user signs out.
    SignOut,
    /// Another site makes a browser send something.
    Attack,
    /// An operator asks for a change at the desk.
    AskAtDesk,
    /// An operator sends the text of a change with a signature.
    SignAtDesk,
    /// At the command line, somebody stops being an operator, or is one again.
    ChangeOperators,
    /// Time passes.
    Wait,
}

/// The weights of the acts.
const WEIGHTS: [(Act, usize); 19] = [
    (Act::Authorize, 24),
    (Act::Device, 4),
    (Act::Sign, 20),
    (Act::GoOn, 12),
    (Act::Deny, 1),
    (Act::Redeem, 14),
    (Act::Poll, 3),
    (Act::Refresh, 6),
    (Act::Program, 2),
    (Act::OfItself, 1),
    (Act::AskAbout, 3),
    (Act::TakeBack, 1),
    (Act::Link, 1),
    (Act::SignOut, 1),
    (Act::Attack, 9),
    (Act::AskAtDesk, 8),
    (Act::SignAtDesk, 3),
    (Act::ChangeOperators, 1),
    (Act::Wait, 1),
];

/// What often follows an act, in percent. A sequence of unrelated steps would not get far.
const fn follows(act: Act) -> &'static [(Act, usize)] {
    match act {
        Act::Authorize => &[(Act::Sign, 45), (Act::GoOn, 30)],
        Act::Device => &[(Act::Sign, 50), (Act::GoOn, 25)],
        Act::Sign => &[(Act::Redeem, 35), (Act::Authorize, 35), (Act::Poll, 5)],
        Act::GoOn => &[(Act::Redeem, 35), (Act::Sign, 20), (Act::Poll, 5)],
        Act::Redeem | Act::Poll => &[(Act::Refresh, 20), (Act::AskAbout, 15), (Act::Authorize, 30)],
        Act::Refresh => &[(Act::AskAbout, 10), (Act::Refresh, 10), (Act::Authorize, 20)],
        Act::AskAtDesk => &[(Act::SignAtDesk, 55), (Act::AskAtDesk, 25), (Act::ChangeOperators, 8)],
        Act::SignAtDesk => &[(Act::AskAtDesk, 35), (Act::SignAtDesk, 20), (Act::Authorize, 20)],
        Act::ChangeOperators => &[(Act::SignAtDesk, 50), (Act::AskAtDesk, 20)],
        Act::Deny
        | Act::Program
        | Act::OfItself
        | Act::AskAbout
        | Act::TakeBack
        | Act::Link
        | Act::SignOut
        | Act::Attack
        | Act::Wait => &[(Act::Authorize, 30)],
    }
}

/// The sequence with this number: 8 to 16 steps.
pub(super) fn sequence(seed: u64) -> Vec<Step> {
    let mut dice = Dice::new(seed.wrapping_mul(0xD129_0E51_2F05_9B4D));
    let length = 8 + dice.below(9);
    let mut steps: Vec<Step> = Vec::with_capacity(length);
    for _ in 0..length {
        let mut place = dice.below(100);
        let following = steps.last().map_or(&[(Act::Authorize, 60)][..], |step| follows(step.act));
        let following = chosen(&mut place, following);
        let act = following.unwrap_or_else(|| {
            let mut place = dice.below(WEIGHTS.iter().map(|(_, weight)| weight).sum());
            chosen(&mut place, &WEIGHTS).unwrap()
        });
        steps.push(Step { act, seed: dice.throw() });
    }
    steps
}

/// The act whose share contains `place`.
fn chosen(place: &mut usize, among: &[(Act, usize)]) -> Option<Act> {
    for (act, weight) in among {
        if *place < *weight {
            return Some(*act);
        }
        *place -= weight;
    }
    None
}
