/// The results of other stacks for the same work, if they have been measured.
///
/// They come from one machine with two shared cores (x86-64, gcc 12 -O2), so they show differences by a factor, but not
/// by a few percent. docs/PERFORMANCE.md describes the measurement.
struct OthersFigures {
    /// The result of NimBLE's host, in C.
    let nimble: Double?
    /// The result of Bumble, in Python.
    let bumble: Double?

    private init(_ nimble: Double?, _ bumble: Double) {
        self.nimble = nimble
        self.bumble = bumble
    }

    private init() {
        nimble = nil
        bumble = nil
    }

    /// Returns the results for a workload, in the same unit as ours; without values if there are none.
    static func of(_ workload: String) -> OthersFigures { known[workload] ?? OthersFigures() }

    private static let known: [String: OthersFigures] = [
        "H1": .init(55, 64_024),
        "H2": .init(208, 82_754),
        "H3": .init(222, 89_474),
        "H4": .init(124, 38_735),
        "H5": .init(113, 24_935),
        "H6": .init(122, 27_570),
        "H7": .init(233, 84_696),
        "H8": .init(263, 77_128),
        "H9": .init(99, 23_213),
        "scale-10": .init(nil, 28.6),
        "scale-100": .init(nil, 1.68),
        "scale-1000": .init(nil, 0.027),
        "crowd-10": .init(nil, 28.6),
        "crowd-100": .init(nil, 1.68),
        "crowd-1000": .init(nil, 0.027),
    ]
}
