import BLERuntime

extension World {
    /// Something that goes wrong with a machine at a moment of the world.
    ///
    /// It has a form in words, so that a run that failed can be repeated from what it printed:
    ///
    ///     linkLoss 6000 ms at packet 40 of sensor
    ///     bluetoothOff 2000 ms at step didConnect 2 of phone
    ///     controllerReset at time 3500.25 ms of phone
    ///
    /// The name of a machine is all that follows `of`. The name of a step with spaces in it is in quotes, and so is
    /// each name that is empty or begins with a quote; quotes and backslashes in there have a backslash before them.
    public struct Fault: Hashable, Sendable {
        /// What goes wrong.
        public enum Kind: Hashable, Sendable {
            /// Nobody hears the machine, and it hears nobody, for so long; links are lost when that is longer than
            /// their supervision timeout, which is two seconds for those that this package makes.
            case linkLoss(Duration)
            /// The user switches Bluetooth off, and on again after so long.
            case bluetoothOff(Duration)
            /// The controller is pulled out, and put back after so long.
            case unplugged(Duration)
            /// The controller starts anew in the middle of what it does.
            case controllerReset
        }

        /// When it goes wrong.
        public enum Moment: Hashable, Sendable {
            /// When the world is so old.
            case time(Duration)
            /// As soon as so many packets of data have passed between the machine's host and its controller, both ways
            /// together.
            case packet(Int)
            /// When an app of the machine asks for something or hears it for the n-th time.
            ///
            /// The names are those of Core Bluetooth, such as `connect`, `discoverServices`, `didConnect` and
            /// `didUpdateValue`, and those that a test gives to ``Machine/reach(_:)``.
            case step(String, Int)
        }

        /// What goes wrong.
        public var kind: Kind
        /// When.
        public var moment: Moment
        /// The name of the machine.
        public var machine: String

        /// Creates a fault.
        public init(_ kind: Kind, at moment: Moment, of machine: String) {
            self.kind = kind
            self.moment = moment
            self.machine = machine
        }
    }

    /// Has these things go wrong, each once.
    public func plan(_ faults: [Fault]) {
        change { $0.plan(faults) }
    }
}

extension World.Fault: CustomStringConvertible {
    /// The fault in words, from which ``init(_:)`` makes it again.
    public var description: String { "\(kind) at \(moment) of \(FaultWords.machine(machine))" }

    /// Reads a fault in words; `nil` if these are none.
    public init?(_ text: String) {
        var words = FaultWords(text)
        guard let kind = Kind(&words), words.take(" at "), let moment = Moment(&words), words.take(" of "),
            let machine = words.machine()
        else { return nil }
        self.init(kind, at: moment, of: machine)
    }
}

extension World.Fault.Kind: CustomStringConvertible {
    /// The kind in words.
    public var description: String {
        switch self {
        case .linkLoss(let duration): "linkLoss \(duration.inExactMilliseconds)"
        case .bluetoothOff(let duration): "bluetoothOff \(duration.inExactMilliseconds)"
        case .unplugged(let duration): "unplugged \(duration.inExactMilliseconds)"
        case .controllerReset: "controllerReset"
        }
    }

    init?(_ words: inout FaultWords) {
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
    /// The moment in words.
    public var description: String {
        switch self {
        case .time(let age): "time \(age.inExactMilliseconds)"
        case .packet(let number): "packet \(number)"
        case .step(let name, let number): "step \(FaultWords.step(name)) \(number)"
        }
    }

    init?(_ words: inout FaultWords) {
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
