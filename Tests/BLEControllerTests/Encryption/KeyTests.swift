import BLEController
import BLEWire
import Testing

/// Core 6.0, Vol 4, Part E, 7.8.22, 7.8.23, 7.8.36 and 7.8.37.
@Suite("A controller's keys and random numbers")
struct KeyTests {
    /// Core 6.0, Vol 2, Part G, 7.1.2: a public key, and what the debug key makes of it.
    static let otherKey = publicKey(
        "1ea1f0f01faf1d9609592284f19e4c0047b58afd8615a69f559077b22faaa190",
        "4c55f33e429dad377356703a9ab85160472d1130e28e36765f89aff915b1214a"
    )
    static let agreed = octets("ec0234a357c8ad05341010a60a397d9b99796b13b4f866f1868d34f373bfa698")

    /// The octets that are written here most significant first, in the order of HCI.
    static func octets(_ hexadecimal: String) -> [UInt8] {
        let digits = Array(hexadecimal)
        let pairs = stride(from: 0, to: digits.count, by: 2).map { String(digits[$0...($0 + 1)]) }
        return pairs.reversed().compactMap { UInt8($0, radix: 16) }
    }

    static func publicKey(_ x: String, _ y: String) -> HCI.PublicKey {
        guard let key = HCI.PublicKey(x: octets(x), y: octets(y)) else { preconditionFailure("a coordinate is short") }
        return key
    }

    /// The key that a board made last.
    private func madeKey(_ bench: borrowing Bench, _ board: Int) -> HCI.PublicKey? {
        for event in bench.events(board).reversed() {
            guard case .leReadLocalP256PublicKeyComplete(let event) = event else { continue }
            return event.status == .success ? event.key : nil
        }
        return nil
    }

    /// The secrets that a board agreed on, and whether that went well.
    private func secrets(_ bench: borrowing Bench, _ board: Int) -> [HCI.LEGenerateDHKeyComplete] {
        bench.events(board).compactMap { if case .leGenerateDHKeyComplete(let event) = $0 { event } else { nil } }
    }

    @Test("A controller encrypts a block as FIPS 197 specifies")
    func encrypt() throws {
        var bench = Bench()
        let board = bench.add()
        let key = Key128(wire: 0x0001_0203_0405_0607_0809_0A0B_0C0D_0E0F)
        let plaintext = Key128(wire: 0x0011_2233_4455_6677_8899_AABB_CCDD_EEFF)
        bench.send(.leEncrypt(.init(key: key, plaintext: plaintext)), board)
        guard case .commandComplete(let event)? = bench.said[board].last?.event else {
            Issue.record("the command was not answered")
            return
        }
        let value = try event.returned(by: HCI.LEEncrypt.self)
        #expect(value.status == .success)
        #expect(value.encrypted.wire == 0x69C4_E0D8_6A7B_0430_D8CD_B780_70B4_C55A)
    }

    @Test("Random numbers differ between controllers, and are the same in every run of a seed")
    func random() throws {
        func numbers(seed: UInt64, others: Int) throws -> [UInt64] {
            var bench = Bench(seed: seed)
            let board = bench.add(), other = bench.add()
            return try (0..<4).map { _ in
                for _ in 0..<others { bench.send(.leRand, other) }
                bench.send(.leRand, board)
                guard case .commandComplete(let event)? = bench.said[board].last?.event else { return 0 }
                return try event.returned(by: HCI.LERand.self).number
            }
        }
        let first = try numbers(seed: 1, others: 0)
        #expect(Set(first).count == 4)
        #expect(try numbers(seed: 1, others: 3) == first)
        #expect(try numbers(seed: 2, others: 0) != first)
    }

    @Test("Two controllers agree on a shared secret, which differs from run to run", arguments: UInt64(0)..<4)
    func agreement(seed: UInt64) throws {
        var bench = Bench(seed: seed)
        for board in [bench.add(), bench.add()] { #expect(bench.ask(.leReadLocalP256PublicKey, board) == .success) }
        let made = (madeKey(bench, 0), madeKey(bench, 1))
        let own = try #require(made.0), other = try #require(made.1)
        #expect(own != other)
        #expect(bench.ask(.leGenerateDHKey(.init(key: other)), 0) == .success)
        #expect(bench.ask(.leGenerateDHKey(.init(key: own)), 1) == .success)
        let agreed = (secrets(bench, 0), secrets(bench, 1))
        #expect(agreed.0.map(\.status) == [.success] && agreed.0 == agreed.1)
        var again = Bench(seed: seed)
        again.add()
        again.send(.leReadLocalP256PublicKey, 0)
        #expect(madeKey(again, 0) == own)
        again.send(.leReadLocalP256PublicKey, 0)
        #expect(madeKey(again, 0) != own)
    }

    @Test("With the debug key, a controller computes the specification's sample secret without a key of its own")
    func debugKey() {
        var bench = Bench()
        let board = bench.add()
        #expect(bench.ask(.leGenerateDHKeyV2(.init(key: Self.otherKey, type: .debug)), board) == .success)
        #expect(secrets(bench, board) == [.init(status: .success, key: Self.agreed)])
        let generated = HCICommandPacket.leGenerateDHKeyV2(.init(key: Self.otherKey, type: .generated))
        #expect(bench.ask(generated, board) == .commandDisallowed)
        bench.send(.leReadLocalP256PublicKey, board)
        #expect(bench.ask(generated, board) == .success)
        bench.send(.leGenerateDHKey(.init(key: Self.otherKey)), board)
        let all = secrets(bench, board)
        #expect(all.count == 3 && all[1] == all[2] && all[1] != all[0])
    }

    @Test("A controller without a key pair of its own, or after a reset, agrees on no secret")
    func keyless() {
        var bench = Bench()
        let board = bench.add()
        #expect(bench.ask(.leGenerateDHKey(.init(key: Self.otherKey)), board) == .commandDisallowed)
        bench.send(.leReadLocalP256PublicKey, board)
        bench.send(.reset, board)
        #expect(bench.ask(.leGenerateDHKey(.init(key: Self.otherKey)), board) == .commandDisallowed)
        #expect(secrets(bench, board).isEmpty)
    }

    /// Coordinates that are no point of the curve.
    static let strays: [HCI.PublicKey] = [
        .init(), publicKey(String(repeating: "f", count: 64), String(repeating: "f", count: 64)),
        publicKey(
            "20b003d2f297be2c5e2c83a7e9f9a5b9eff49111acf4fddbcc0301480e359de6",
            String(repeating: "0", count: 64)
        ),
        publicKey(
            "20b003d2f297be2c5e2c83a7e9f9a5b9eff49111acf4fddbcc0301480e359de6",
            "4c55f33e429dad377356703a9ab85160472d1130e28e36765f89aff915b1214a"
        ),
    ]

    @Test("A public key off the curve is refused and reveals nothing about the private key", arguments: strays)
    func offCurve(key: HCI.PublicKey) {
        var bench = Bench()
        let board = bench.add()
        bench.send(.leReadLocalP256PublicKey, board)
        #expect(bench.ask(.leGenerateDHKey(.init(key: key)), board) == .success)
        let nothing = [UInt8](repeating: 0xFF, count: 32)
        #expect(secrets(bench, board) == [.init(status: .invalidCommandParameters, key: nothing)])
    }
}
