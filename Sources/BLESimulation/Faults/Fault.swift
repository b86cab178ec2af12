import BLERuntime

extension World {
    /// A fault that affects a machine at a given moment.
    ///
    /// It has a textual form, so that a failed run can be repeated from its output:
    ///
    ///     linkLoss 6000 ms at packet 40 of sensor
    ///     bluetoothOff 2000 ms at step didConnect 2 of phone
    ///     controllerReset at time 3500.25 ms of phone
    ///
    /// The name of the machine is everything after `of`. A step's name is in quotes if it contains spaces. A name that
    /// is empty or starts with a quote is in quotes, too; quotes and backslashes inside are escaped with a backslash.
    public struct Fault: Hashable, Sendable {
        /// The effect of a fault.
        public enum Kind: Hashable, Sendable {
            /// For this time, the machine receives no packets, and no other machine receives its packets. A link is
            /// lost if the time exceeds its supervision timeout, which is two seconds for links that this package
            /// creates.
            case linkLoss(Duration)
            /// The user switches Bluetooth off, and on again after this time.
            case bluetoothOff(Duration)
            /// The controller is unplugged, and plugged in again after this time.
            case unplugged(Duration)
            /// The controller resets.
            case controllerReset
        }

        /// The point at which a fault occurs: a time, a packet, or a step of an app.
        public enum Moment: Hashable, Sendable {
            /// An age of the world.
            case time(Duration)
            /// After this number of data packets between the machine's host and its controller, in both directions
            /// together.
            case packet(Int)
            /// When an app of the machine makes the call or receives the callback with this name for the nth time.
            ///
            /// The names are those of Core Bluetooth, such as `connect`, `discoverServices`, `didConnect` and
            /// `didUpdateValue`, and those that a test passes to ``Machine/reach(_:)``.
            case step(String, Int)
        }

        /// The effect of the fault.
        public var kind: Kind
        /// The point at which the fault occurs.
        public var moment: Moment
        /// The name of the machine that the fault affects.
        public var machine: String

        /// Creates a fault.
        public init(_ kind: Kind, at moment: Moment, of machine: String) {
            self.kind = kind
            self.moment = moment
            self.machine = machine
        }
    }

    /// Plans faults.
    ///
    /// Each fault happens once. It may name a machine that does not exist yet. But a fault at a
    /// ``Fault/Moment/time(_:)`` never happens if its machine does not exist by then.
    public func plan(_ faults: [Fault]) {
        change { $0.plan(faults) }
    }
}

extension World.Fault: CustomStringConvertible {
    /// The textual form, which ``init(_:)`` parses.
    public var description: String { "\(kind) at \(moment) of \(FaultParser.machine(machine))" }

    /// Parses the textual form; returns `nil` if it is invalid.
    public init?(_ text: String) {
        var words = FaultParser(text)
        guard let kind = Kind(&words), words.take(" at "), let moment = Moment(&words), words.take(" of "),
            let machine = words.machine()
        else { return nil }
        self.init(kind, at: moment, of: machine)
    }
}

extension World.Fault.Kind: CustomStringConvertible {
    /// The textual form of the kind.
    public var description: String {
        switch self {
        case .linkLoss(let duration): "linkLoss \(duration.inExactMilliseconds)"
        case .bluetoothOff(let duration): "bluetoothOff \(duration.inExactMilliseconds)"
        case .unplugged(let duration): "unplugged \(duration.inExactMilliseconds)"
        case .controllerReset: "controllerReset"
        }
    }

    init?(_ words: inout FaultParser) {
        let name = words.word()
        if name == "controllerReset" {
            self = .controllerReset
            return
        }
        guard words.take(" "), let duration = words.duration() else { return nil }
        switch name {
        case "linkLoss": self = .linkLoss(duration)
        case "bluetoothOff": self = .bluetoothOff(duration)
        case "unplugged": self = .unplugged(duration)
        default: return nil
        }
    }
}

extension World.Fault.Moment: CustomStringConvertible {
    /// The textual form of the moment.
    public var description: String {
        switch self {
        case .time(let age): "time \(age.inExactMilliseconds)"
        case .packet(let number): "packet \(number)"
        case .step(let name, let number): "step \(FaultParser.step(name)) \(number)"
        }
    }

    init?(_ words: inout FaultParser) {
        let name = words.word()
        guard words.take(" ") else { return nil }
        switch name {
        case "time":
            guard let age = words.duration() else { return nil }
            self = .time(age)
        case "packet":
            guard let number = words.number() else { return nil }
            self = .packet(number)
        case "step":
            guard let step = words.step(), words.take(" "), let number = words.number() else { return nil }
            self = .step(step, number)
        default: return nil
        }
    }
}
