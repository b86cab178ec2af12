import BLERuntime
import BLEWire

extension SimulatedPeripheral {
    /// The part that a device and its user take in a pairing.
    ///
    /// The capabilities of the device and of the central determine the method of pairing (Core 6.0, Vol 3, Part H,
    /// 2.3.5.1). A device without this description has neither a display nor a keyboard. It pairs without asking its
    /// user, but only if it has protected values.
    public struct Pairing: Hashable, Sendable {
        /// The input and output capabilities of a device.
        public enum Capability: String, Hashable, Sendable, CaseIterable {
            /// Neither a display nor buttons.
            case none
            /// A display, but no buttons.
            case display
            /// A display, and buttons for yes and no.
            case yesNo = "yes-no"
            /// A keyboard, but no display.
            case keyboard
            /// A keyboard and a display.
            case keyboardDisplay = "keyboard-display"
        }

        /// The input and output capabilities of the device.
        public var capability: Capability
        /// The passkey that the device displays or that its user enters, from 0 to 999999.
        ///
        /// If `nil`, the device displays a different passkey each time, and its user enters the passkey that the
        /// central displays. If the device and the central have only keyboards, no passkey is displayed, and the
        /// pairing times out.
        public var passkey: Int?
        /// True if the user of the device refuses each pairing.
        public var isRefused: Bool

        /// Creates a description of a device's pairing.
        public init(_ capability: Capability = .none, passkey: Int? = nil, isRefused: Bool = false) {
            self.capability = capability
            self.passkey = passkey
            self.isRefused = isRefused
        }
    }
}

extension SimulatedPeripheral.Pairing: Decodable {
    private enum Key: String, CodingKey, CaseIterable { case capability, passkey, refused }

    /// Decodes the pairing of a device of a ``Scenario``.
    public init(from decoder: any Decoder) throws {
        try decoder.refuseUnknownKeys(of: "“pairing”", allowing: Key.self)
        let values = try decoder.container(keyedBy: Key.self)
        capability = try values.nameIfPresent(forKey: .capability) ?? .none
        passkey = try values.decodeIfPresent(Bounds(0...999_999), forKey: .passkey)
        isRefused = try values.decodeIfPresent(Bool.self, forKey: .refused) ?? false
    }
}

extension SimulatedPeripheral.Pairing.Capability {
    var wire: SMP.IOCapability {
        switch self {
        case .none: .noInputNoOutput
        case .display: .displayOnly
        case .yesNo: .displayYesNo
        case .keyboard: .keyboardOnly
        case .keyboardDisplay: .keyboardDisplay
        }
    }
}
