import BLEHost
import BLEWire
import Testing

/// Core 6.0, Vol 3, Part F, 3.2.5 and 4; Part C, 10.3.1.
@Suite("All operations, permissions and security levels")
struct PermissionMatrixTests {
    private static let handle = AttributeHandle(wire: 3)

    /// A way to get at the attribute 3.
    struct Operation: CustomStringConvertible {
        let description: String
        let reads: Bool
        let packet: [UInt8]
        /// Whether a refusal is answered.
        var isRequest = true
        /// Whether it looks for values, and passes over those that it may not see.
        var isSearch = false

        init(_ description: String, reads: Bool, _ packet: String, isRequest: Bool = true, isSearch: Bool = false) {
            (self.description, self.reads, self.packet) = (description, reads, [UInt8](packet))
            (self.isRequest, self.isSearch) = (isRequest, isSearch)
        }

        /// Whether this is what answers the operation when it is refused with this code, or carried out if that is 0.
        func isRight(_ answer: [UInt8]?, _ code: UInt8) -> Bool {
            guard isRequest else { return answer == nil }
            guard code != 0 else { return answer?.first == packet[0] + 1 }
            return answer == (isSearch ? [1, packet[0], 1, 0, 0x0A] : [1, packet[0], 3, 0, code])
        }
    }

    static let operations = [
        Operation("read", reads: true, "0a 0300"), Operation("read blob", reads: true, "0c 0300 0000"),
        Operation("read by type", reads: true, "08 0100 ffff 01b0"),
        Operation("read multiple", reads: true, "0e 0300 0300"),
        Operation("read multiple behind another", reads: true, "0e 0100 0300"),
        Operation("read multiple variable", reads: true, "20 0300 0300"),
        Operation("find by type value", reads: true, "06 0100 ffff 01b0 5a", isSearch: true),
        Operation("write", reads: false, "12 0300 5b"), Operation("prepare", reads: false, "16 0300 0000 5b"),
        Operation("write command", reads: false, "52 0300 5b", isRequest: false),
        Operation("signed write", reads: false, "d2 0300 5b", isRequest: false),
    ]

    /// All permissions without LE Secure Connections; and with it for reads, writes and both, beside weaker ones.
    private static let permissions: [UInt16] =
        Array(0..<0x80) + [0x110, 0x220, 0x330].flatMap { secure in [0, 0x03, 0x0C, 0x40].map { secure | $0 } }

    private static let signingKey = Key128(wire: 77)
    private static let key = LongTermKey(key: Key128(wire: 78))

    /// A layer with one value, 0x5A, at 3; a bond has a key for links and one for signatures.
    private func makeLayer(_ bits: UInt16, isBonded: Bool, key: LongTermKey? = Self.key) throws -> LoneLayer {
        let range = try #require(AttributeHandleRange(.init(wire: 1), Self.handle))
        let value = GATTDatabase.ExactItem.characteristic(
            .init(wire: 2),
            .short(0xB001),
            [.read, .write],
            value: (Self.handle, [0x5A]),
            AttributePermissions(rawValue: bits)
        )
        let database = try #require(
            GATTDatabase(exactly: [.init(uuid: .short(0xB000), isPrimary: true, range: range, items: [value])])
        )
        var lone = LoneLayer(role: .peripheral, leastKeySize: 9, database: database)
        var bond = Bond(identity: DeviceAddress(1, .public), longTermKey: key)
        bond.remoteSigning = RemoteSigning(key: Self.signingKey)
        guard isBonded else { return lone }
        lone.layer.bonded(LoneLayer.link, bond, at: lone.now)
        _ = lone.sent()
        return lone
    }

    private func trust(_ lone: inout LoneLayer, as oracle: PermissionOracle) {
        lone.layer.secure(LoneLayer.link, oracle.strength)
        lone.layer.authorize(LoneLayer.link, oracle.isAuthorized)
    }

    /// What the attribute holds, seen past all permissions.
    private func value(_ lone: LoneLayer) -> [UInt8]? { lone.layer.storedValue(at: Self.handle) }

    @Test("Each operation is refused or performed as in the table", arguments: operations)
    func matrix(operation: Operation) throws {
        var packet = operation.packet
        if packet[0] == 0xD2 {
            packet += WriteSignature(of: [0x5B], to: Self.handle, counter: 0, key: Self.signingKey).octets
        }
        var wrong: [String] = []
        for bits in Self.permissions {
            let untouched = (bonded: try makeLayer(bits, isBonded: true), other: try makeLayer(bits, isBonded: false))
            for oracle in PermissionOracle.all {
                var lone = oracle.isBonded ? untouched.bonded : untouched.other
                trust(&lone, as: oracle)
                let code = oracle.code(reading: operation.reads, bits: bits)
                let answer = lone.answers(to: packet).first
                if packet[0] == 0x16, lone.answers(to: [0x18, 1]) != [[0x19]] {
                    wrong.append("execute \(bits) \(oracle)")
                }
                let isTaken = oracle.isBonded || packet[0] != 0xD2
                let isWritten = !operation.reads && code == 0 && isTaken
                guard operation.isRight(answer, code), value(lone) == [isWritten ? 0x5B : 0x5A] else {
                    wrong.append("\(bits) \(oracle): \(answer?.hexadecimal ?? "nothing")")
                    continue
                }
            }
        }
        #expect(wrong == [])
    }

    @Test("A prepared write is refused if the link's security no longer suffices when it is executed")
    func demotion() throws {
        for oracle in PermissionOracle.all where oracle.isBonded {
            let trusted = PermissionOracle(
                isEncrypted: true,
                isBonded: true,
                isAuthenticated: true,
                isSecureConnections: true,
                keySize: 16,
                isAuthorized: true
            )
            for bits: UInt16 in [0x68, 0x260] {
                var lone = try makeLayer(bits, isBonded: true)
                trust(&lone, as: trusted)
                #expect(lone.answers(to: [UInt8]("16 0300 0000 5b")).first?.first == 0x17)
                trust(&lone, as: oracle)
                let code = oracle.code(reading: false, bits: bits)
                #expect(lone.answers(to: [0x18, 1]) == [code == 0 ? [0x19] : [1, 0x18, 3, 0, code]])
                #expect(value(lone) == [code == 0 ? 0x5B : 0x5A])
            }
        }
    }
    @Test(
        "A peer whose bond has no key for encryption is told to pair, not to encrypt",
        arguments: [(nil, 0x05), (key, 0x0F)] as [(LongTermKey?, UInt8)]
    )
    func keyless(key: LongTermKey?, code: UInt8) throws {
        var lone = try makeLayer(0x04, isBonded: true, key: key)
        #expect(lone.answers(to: [UInt8]("0a 0300")) == [[1, 0x0A, 3, 0, code]])
        #expect(lone.layer.trust(of: LoneLayer.link)?.hasKey == (key != nil))
    }
}
