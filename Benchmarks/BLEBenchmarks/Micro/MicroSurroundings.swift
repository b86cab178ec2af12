/// What there is beside that which a workload touches, and which should cost it nothing.
struct MicroSurroundings {
    /// Links of the host that is measured, of which the last one is used.
    var links = 1
    /// Peers that the app waits to be connected to.
    var pending = 0
    /// Devices whose advertisements come in turn.
    var advertisers = 256
    /// Apps that scan for all advertisements.
    var clients = 1
    /// Characteristics of the own server.
    var characteristics = 3
    /// Values that wait for a buffer of the controller, behind which others are sent.
    var waiting = 0

    /// The options that change this, each with what it changes and what it may be.
    static var options: [(name: String, path: WritableKeyPath<Self, Int>, range: ClosedRange<Int>)] {
        [
            ("--links", \.links, 1...31), ("--pending", \.pending, 0...255),
            ("--advertisers", \.advertisers, 1...200_000),
            ("--clients", \.clients, 1...64), ("--characteristics", \.characteristics, 3...2_000),
            ("--waiting", \.waiting, 0...1_000),
        ]
    }
}
