/// The load on the measured host that a workload does not need, and that should not make the workload slower.
struct MicroSurroundings {
    /// The number of links of the measured host.
    ///
    /// The workload uses the last one.
    var links = 1
    /// The number of peers to which the app has requested a connection, and that do not respond.
    var pending = 0
    /// The number of devices whose advertisements arrive in turn.
    var advertisers = 256
    /// The number of apps that scan for all advertisements.
    var clients = 1
    /// The number of characteristics of the host's own server.
    var characteristics = 3
    /// The number of values that are in flight or wait for a buffer of the controller when the workload begins.
    var waiting = 0

    /// The command-line options for these numbers, each with its property and its range.
    static var options: [(name: String, path: WritableKeyPath<Self, Int>, range: ClosedRange<Int>)] {
        [
            ("--links", \.links, 1...250), ("--pending", \.pending, 0...255),
            ("--advertisers", \.advertisers, 1...200_000),
            ("--clients", \.clients, 1...64), ("--characteristics", \.characteristics, 3...2_000),
            ("--waiting", \.waiting, 0...1_000),
        ]
    }
}
