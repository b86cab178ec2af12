package import BLEWire

/// The events of a capture or world in time order, with the relations between them.
///
/// It is a value: ``TimelineBuilder`` makes it from packets and comments, ``FailureRule`` finds the causes of failures
/// in it, and ``ExplainPage`` draws it.
package struct Timeline: Sendable {
    /// A row of the page.
    package enum Track: Int, CaseIterable, Sendable {
        case app, attribute, security, channel, link, hci, air

        /// The name on the page.
        package var name: String {
            switch self {
            case .app: "App"
            case .attribute: "ATT and GATT"
            case .security: "Pairing, encryption"
            case .channel: "L2CAP"
            case .link: "Links"
            case .hci: "HCI"
            case .air: "Air"
            }
        }
    }

    /// The importance of an event.
    package enum Level: Int, Sendable {
        case normal, call, callback, warning, failure
    }

    /// The facts of an event that rules need.
    package enum Fact: Equatable, Sendable {
        case none
        /// A call of an app, with its arguments in words.
        case call(String, words: String, client: Int)
        /// A call of a delegate's method; with the error if there was one.
        case callback(String, words: String, client: Int, error: String?)
        case request(ATT.Opcode, handle: UInt16, link: UInt16, isFromHost: Bool)
        case response(link: UInt16, isFromHost: Bool)
        case refusal(of: ATT.Opcode, handle: UInt16, ATT.ErrorCode, link: UInt16, isFromHost: Bool)
        case connected(link: UInt16, peer: String)
        case connectionFailed(HCI.Status)
        case disconnected(link: UInt16, HCI.Status)
        case encryption(link: UInt16, HCI.Status)
        case pairingFailed(UInt8, isFromHost: Bool)
        case pairingStarted
        case reset
        case hardwareError
        case advertisement(address: String)
        case air(isLost: Bool, strength: Int, distance: Double, receiver: String)
    }

    /// An event.
    package struct Event: Sendable {
        /// Nanoseconds, from 1970 or the beginning of the world.
        package var time: Int64
        package var track: Track
        /// The index of the source in ``Timeline/sources``.
        package var source: Int
        package var title: String
        package var detail = ""
        package var level = Level.normal
        /// The number that related events share; 0 for none.
        package var group = 0
        /// The index of the HCI packet that this event is about; `nil` for none.
        package var packet: Int?
        package var octets: [UInt8] = []
        package var layers: [DissectedLayer] = []
        package var fact = Fact.none
    }

    /// A value over time.
    package struct Series: Sendable {
        package var name: String
        package var unit: String
        package var points: [(time: Int64, value: Double)] = []
    }

    /// The names of machines or adapters.
    package var sources: [String] = []
    /// In the order of time.
    package var events: [Event] = []
    package var series: [Series] = []
    /// The time until which events were recorded; `nil` for that of the last event.
    package var end: Int64?
    /// The number of events that did not fit.
    package var omitted = 0
    /// Sentences about the source, such as lost packets.
    package var remarks: [String] = []
    /// True if times count from the beginning of a world.
    package var isWorld = false

    package init() {}
}
