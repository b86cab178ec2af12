import BLEWire

/// How one end of a link is encrypted, and what it is doing about that.
struct LinkEncryption: Sendable {
    /// Seals what this end sends; `nil` if that is not encrypted.
    var sending: PacketCipher?
    /// Opens what this end hears; `nil` if that is not encrypted.
    var receiving: PacketCipher?
    var central = CentralEncryption()
    var peripheral = PeripheralEncryption()
    var payloadTimer = AuthenticatedPayloadTimer()

    /// The octets of the packet in flight, if it is encrypted: they are the same each time that it is sent.
    var sealed: [UInt8]?
    /// What came while a procedure was under way, and has to wait for the end of that.
    private var postponed: [LLControlPacket] = []

    /// Keeps a packet that has come until the link is encrypted; a stranger's are not kept without limit.
    mutating func postpone(_ packet: LLControlPacket) {
        guard postponed.count < LinkControl.limit else { return }
        postponed.append(packet)
    }

    /// Takes the packets that have waited.
    mutating func takePostponed() -> [LLControlPacket] {
        defer { postponed = [] }
        return postponed
    }

    /// Whether the link is encrypted, as far as this end knows.
    var isOn: Bool { sending != nil }

    /// Whether a procedure is under way, so that this end sends nothing that is no part of it.
    var isUnderWay: Bool { central.isUnderWay || peripheral.isUnderWay }

    /// Whether the other end sends nothing, either, that is no part of the procedure.
    var isExclusive: Bool { central.isExclusive || peripheral.isUnderWay }

    /// What to do about a control PDU that has come.
    enum Admission { case now, later, never }

    /// Core 6.0, Vol 6, Part B, 5.1.3.1.
    func admission(of opcode: LL.ControlOpcode) -> Admission {
        guard isUnderWay, !opcode.isOfEncryption else { return .now }
        switch opcode {
        case .terminate, .reject, .rejectExtended, .unknownResponse: return .now
        default: return isExclusive ? .never : .later
        }
    }
}

/// Keeps encryption apart from the end that it belongs to: most links have none, and should not have to carry it.
indirect enum KeptApart: Sendable {
    case encryption(LinkEncryption)

    var encryption: LinkEncryption {
        switch self {
        case .encryption(let encryption): encryption
        }
    }
}
