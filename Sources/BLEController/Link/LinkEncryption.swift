import BLEWire

/// The encryption state of one end of a link.
struct LinkEncryption: Sendable {
    /// Encrypts outgoing packets; `nil` if they are not encrypted.
    var sending: PacketCipher?
    /// Decrypts incoming packets; `nil` if they are not encrypted.
    var receiving: PacketCipher?
    var central = CentralEncryption()
    var peripheral = PeripheralEncryption()
    var payloadTimer = AuthenticatedPayloadTimer()

    /// The encrypted octets of the packet in flight, which are the same in each retransmission.
    var sealed: [UInt8]?
    /// Packets that arrived during a procedure and are processed after it.
    private var postponed: [LLControlPacket] = []

    /// Stores a packet until the link is encrypted, up to a limit.
    mutating func postpone(_ packet: LLControlPacket) {
        guard postponed.count < LinkControl.limit else { return }
        postponed.append(packet)
    }

    /// Removes and returns the postponed packets.
    mutating func takePostponed() -> [LLControlPacket] {
        defer { postponed = [] }
        return postponed
    }

    /// True if the link is encrypted from the view of this end.
    var isOn: Bool { sending != nil }

    /// True while a procedure is running, in which this end sends only packets that belong to it.
    var isUnderWay: Bool { central.isUnderWay || peripheral.isUnderWay }

    /// True if the peer, too, sends only packets that belong to the procedure.
    var isExclusive: Bool { central.isExclusive || peripheral.isUnderWay }

    /// The treatment of a received control PDU.
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

/// A heap-allocated encryption state: most links are not encrypted and should not reserve space for it.
indirect enum Boxed: Sendable {
    case encryption(LinkEncryption)

    var encryption: LinkEncryption {
        switch self {
        case .encryption(let encryption): encryption
        }
    }
}
