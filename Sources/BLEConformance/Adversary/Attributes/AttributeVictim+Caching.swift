import BLEHost
import BLEWire

// The part of the attack in which the server has a bonded client, and its services have just changed.
extension AttributeVictim {
    /// The adversary's key for signed writes.
    static let signingKey = Key128(wire: 0x0011_2233_4455_6677_8899_AABB_CCDD_EEFF)

    /// Makes the adversary a bonded client that supports robust caching and does not know of a new service yet.
    ///
    /// | handle | attribute |
    /// | --- | --- |
    /// | 3 | the device name |
    /// | 9 | the Client Characteristic Configuration of Service Changed |
    /// | 11 | the Client Supported Features |
    /// | 13 | the Database Hash |
    /// | 18, 20 | a constant value, and a value that the app provides and notifies |
    /// | 21 | the Client Characteristic Configuration of the value at 20 |
    mutating func prepareCaching() {
        let bond = Bond(
            identity: DeviceAddress(0x0000_AAAA_AAAA_0001, .public),
            remoteSigning: RemoteSigning(key: Self.signingKey)
        )
        layer.bonded(Self.link, bond, at: now)
        for octets: [UInt8] in [[0x12, 9, 0, 2, 0], [0x12, 11, 0, 1]] {
            layer.receive(octets.span, on: Self.link, at: now)
            drain()
        }
        layer.perform(.addService(Self.service), for: Self.app, at: now)
        drain()
        let (answers, unconfirmed) = (record.answers, record.unconfirmed)
        check(answers == [[0x13], [0x13]], "answers two writes of a bonded client with \(answers.map(\.hexadecimal))")
        check(unconfirmed == 1, "sends \(unconfirmed) indications of one change")
        record.answers = []
    }

    /// Makes the app send two values to all subscribers.
    mutating func update() {
        for octet: UInt8 in [1, 2] {
            layer.perform(.update(LocalAttributeID(rawValue: 3), [octet], to: nil), for: Self.app, at: now)
            record.updates += 1
        }
        drain()
    }

    /// Makes the adversary change-aware: confirms all indications, and sends a request.
    mutating func catchUp() {
        while record.unconfirmed > 0 {
            record.unconfirmed -= 1
            layer.receive([0x1E].span, on: Self.link, at: now)
            drain()
        }
        // The first request may fail with an error, which informs the client of the change.
        layer.receive([0x0A, 0x03, 0x00].span, on: Self.link, at: now)
        drain()
        release()
        record.answers = []
    }
}

extension HostilePacket {
    /// Packets that make sense only from a bonded client, for the attributes of ``AttributeVictim/prepareCaching()``.
    static let cachingPackets: [Self] = [
        .init("12 0b00 01", .answer), .init("12 0b00 00", .answer), .init("12 0b00 07", .answer),
        .init("12 0b00", .answer), .init("12 0900 0200", .answer), .init("12 0900 0000", .answer),
        .init("08 0100 ffff 2a2b", .answer), .init("0a 0d00", .answer), .init("0a 0b00", .answer),
        .init("0a 1400", .answer), .init("12 1500 0100", .answer), .init("12 1500 0200", .answer),
        .init("52 1400 aa", .nothing), signedWrite(counter: 0), signedWrite(counter: 7),
    ]

    private static func signedWrite(counter: UInt32) -> Self {
        let packet: [UInt8] = [0xD2, 0x14, 0x00, 0xAB]
        let signature = WriteSignature(of: packet, counter: counter, key: AttributeVictim.signingKey)
        return .init(octets: packet + signature.octets, .nothing, channel: .attribute)
    }
}
