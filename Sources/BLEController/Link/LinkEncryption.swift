import BLEWire

/// The encryption state of one end of a link.
struct LinkEncryption: Sendable {
    /// The cipher for outgoing packets; `nil` if they are not encrypted.
    var sending: PacketCipher?
    /// The cipher for incoming packets; `nil` if they are not encrypted.
    var receiving: PacketCipher?
    var central = CentralEncryption()
    var peripheral = PeripheralEncryption()
    var payloadTimer = AuthenticatedPayloadTimer()

    /// The encrypted octets of the packet in flight, kept because every retransmission must send the same octets.
    ///
    /// The value is `nil` if the packet in flight is not encrypted.
    var sealed: [UInt8]?
    /// The packets that have arrived during an encryption procedure and are processed once it has ended.
    private var postponed: [LLControlPacket] = []

    /// Stores a packet until the encryption procedure has ended; drops it if ``LinkControl/limit`` packets are already
    /// stored.
    mutating func postpone(_ packet: LLControlPacket) {
        guard postponed.count < LinkControl.limit else { return }
        postponed.append(packet)
    }

    /// Removes and returns the postponed packets.
    mutating func takePostponed() -> [LLControlPacket] {
        defer { postponed = [] }
        return postponed
    }

    /// True if this end encrypts its packets.
    var isOn: Bool { sending != nil }

    /// True while an encryption procedure is running; this end then sends only packets that belong to the procedure.
    var isUnderWay: Bool { central.isUnderWay || peripheral.isUnderWay }

    /// True while an encryption procedure is running and the peer, too, sends only packets that belong to the
    /// procedure.
    var isExclusive: Bool { central.isExclusive || peripheral.isUnderWay }

    /// The decision about a received control PDU: process it now or later, or never.
    ///
    /// ``never`` means that the peer must not send the PDU now, so the link ends.
    enum Admission { case now, later, never }

    /// Returns the decision about a received control PDU.
    ///
    /// Core 6.0, Vol 6, Part B, 5.1.3.1.
    func admission(of opcode: LL.ControlOpcode) -> Admission {
        guard isUnderWay, !opcode.isOfEncryption else { return .now }
        switch opcode {
        case .terminate, .reject, .rejectExtended, .unknownResponse: return .now
        default: return isExclusive ? .never : .later
        }
    }
}

/// An encryption state that is allocated on the heap, so that the many links that are not encrypted need no space for
/// it.
indirect enum EncryptionBox: Sendable {
    case encryption(LinkEncryption)

    var encryption: LinkEncryption {
        switch self {
        case .encryption(let encryption): encryption
        }
    }
}
