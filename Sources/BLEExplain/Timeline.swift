package import BLEWire

/// The events of a capture or world in time order, with the relations between them.
///
/// ``TimelineBuilder`` makes a timeline from packets and from the comments in a capture, ``FailureRule`` finds the
/// causes of failures in it, and ``ExplainPage`` draws it.
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

    /// The content of an event, in the form that rules examine.
    package enum Fact: Equatable, Sendable {
        case none
        /// A call by an app: the name of the method, a description of the arguments, and the number of the app.
        case call(String, words: String, client: Int)
        /// A call to a method of the app's delegate, with the same values as ``call(_:words:client:)``.
        ///
        /// `error` is the text of the error that the delegate receives; `nil` if there is none.
        case callback(String, words: String, client: Int, error: String?)
        case request(ATT.Opcode, handle: UInt16, link: UInt16, isFromHost: Bool)
        case response(link: UInt16, isFromHost: Bool)
        case refusal(of: ATT.Opcode, handle: UInt16, ATT.ErrorCode, link: UInt16, isFromHost: Bool)
        case connected(link: UInt16, peer: String, isCentral: Bool)
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

    /// An event on one of the tracks.
    package struct Event: Sendable {
        /// The time in nanoseconds since 1970, or since the beginning of the world.
        package var time: Int64
        package var track: Track
        /// The index of the source in ``Timeline/sources``.
        package var source: Int
        package var title: String
        package var detail = ""
        package var level = Level.normal
        /// The number that related events share; 0 if the event has no group.
        package var group = 0
        /// The index of the event for the HCI packet that this event is about; `nil` if there is no such packet.
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

    /// The names of the sources: machines, adapters, or programs on them.
    package var sources: [String] = []
    /// The events in the order of time.
    package var events: [Event] = []
    package var series: [Series] = []
    /// The end of the recording; `nil` if it ends with the last event.
    package var end: Int64?
    /// The number of events that were left out because there were too many events or sources.
    package var omitted = 0
    /// Sentences about the recording, such as how many packets are missing.
    package var remarks: [String] = []
    /// True if times count from the beginning of a world.
    package var isWorld = false

    package init() {}

    /// The time that the page shows as zero.
    var start: Int64 { isWorld ? 0 : events.first?.time ?? 0 }
}
