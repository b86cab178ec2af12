import BLERuntime

extension World {
    /// Something that goes wrong with a machine at a moment of the world.
    ///
    /// It has a form in words, so that a run that failed can be repeated from what it printed:
    ///
    ///     linkLoss 6000 ms at packet 40 of sensor
    ///     bluetoothOff 2000 ms at step didConnect 2 of phone
    ///     controllerReset at time 3500 ms of phone
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
    public var description: String { "\(kind) at \(moment) of \(machine)" }

    /// Reads a fault in words; `nil` if these are none.
    public init?(_ text: String) {
        guard let at = text.firstRange(of: " at "), let of = text[at.upperBound...].firstRange(of: " of "),
            let kind = Kind(text[..<at.lowerBound]), let moment = Moment(text[at.upperBound..<of.lowerBound]),
            of.upperBound < text.endIndex
        else { return nil }
        self.init(kind, at: moment, of: String(text[of.upperBound...]))
    }
}

extension World.Fault.Kind: CustomStringConvertible {
    /// The kind in words.
    public var description: String {
        switch self {
        case .linkLoss(let duration): "linkLoss \(duration.inMilliseconds)"
        case .bluetoothOff(let duration): "bluetoothOff \(duration.inMilliseconds)"
        case .unplugged(let duration): "unplugged \(duration.inMilliseconds)"
        case .controllerReset: "controllerReset"
        }
    }

    init?(_ text: Substring) {
        let words = text.split(separator: " ", maxSplits: 1)
        let duration = words.count == 2 ? Duration(inMilliseconds: words[1]) : nil
        switch (words.first, duration) {
        case ("linkLoss", let duration?): self = .linkLoss(duration)
        case ("bluetoothOff", let duration?): self = .bluetoothOff(duration)
        case ("unplugged", let duration?): self = .unplugged(duration)
        case ("controllerReset", nil) where words.count == 1: self = .controllerReset
        default: return nil
        }
    }
}

extension World.Fault.Moment: CustomStringConvertible {
    /// The moment in words.
    public var description: String {
        switch self {
        case .time(let age): "time \(age.inMilliseconds)"
        case .packet(let number): "packet \(number)"
        case .step(let name, let number): "step \(name) \(number)"
        }
    }

    init?(_ text: Substring) {
        let words = text.split(separator: " ")
        switch (words.first, words.count) {
        case ("time", 3):
            guard let age = Duration(inMilliseconds: text.dropFirst(5)) else { return nil }
            self = .time(age)
        case ("packet", 2):
            guard let number = Int(words[1]) else { return nil }
            self = .packet(number)
        case ("step", 3):
            guard let number = Int(words[2]) else { return nil }
            self = .step(String(words[1]), number)
        default: return nil
        }
    }
}

extension Duration {
    /// The duration in whole milliseconds, with the unit.
    var inMilliseconds: String { "\(Int64(self / .milliseconds(1))) ms" }

    /// Reads whole milliseconds with the unit, up to a day.
    init?(inMilliseconds text: Substring) {
        guard text.hasSuffix(" ms"), let count = Int64(text.dropLast(3)), 0...86_400_000 ~= count else { return nil }
        self = .milliseconds(count)
    }
}
