import BLEHost
import BLEWire
import Testing

@testable import BLEHost

/// Core 6.0, Vol 3, Part H, 2.3.5.1, tables 2.6, 2.7 and 2.8.
@Suite("Pairing methods")
struct PairingMethodTests {
    /// A cell of table 2.8: what the initiator and the responder can do, and what follows for both generations.
    struct Cell: Sendable, CustomTestStringConvertible {
        let initiator: SMP.IOCapability
        let responder: SMP.IOCapability
        let legacy: PairingMethod
        let secure: PairingMethod

        var testDescription: String { "\(initiator) and \(responder)" }
    }

    /// A letter for each cell, rows for responders, columns for initiators: J just works, I the initiator displays a
    /// passkey, R the responder does, B both input it; the second letter is that of LE Secure Connections, where C
    /// compares numbers.
    static let table = """
        JJ JJ RR JJ RR
        JJ JC RR JJ RC
        II II BB JJ II
        JJ JJ JJ JJ JJ
        II IC RR JJ IC
        """

    static let cells: [Cell] = {
        let methods: [Character: PairingMethod] = [
            "J": .justWorks, "I": .passkeyEntry(.initiatorDisplays), "R": .passkeyEntry(.responderDisplays),
            "B": .passkeyEntry(.bothInput), "C": .numericComparison,
        ]
        return zip(table.split(separator: "\n"), SMP.IOCapability.allCases).flatMap { row, responder in
            zip(row.split(separator: " "), SMP.IOCapability.allCases).compactMap { cell, initiator in
                guard let legacy = cell.first.flatMap({ methods[$0] }), let secure = cell.last.flatMap({ methods[$0] })
                else { return nil }
                return Cell(initiator: initiator, responder: responder, legacy: legacy, secure: secure)
            }
        }
    }()

    @Test("The table is complete")
    func completeness() { #expect(Self.cells.count == 25) }

    @Test("The input and output capabilities decide the method if one end requires MITM protection", arguments: cells)
    func capabilities(_ cell: Cell) {
        for (isSecure, mitm) in [(false, 0), (false, 1), (false, 2), (true, 0), (true, 1), (true, 2), (true, 3)] {
            let agreement = Self.agreement(
                (cell.initiator, .notPresent, mitm & 1 != 0),
                (cell.responder, .notPresent, mitm & 2 != 0),
                isSecure: isSecure
            )
            let expected = mitm == 0 ? .justWorks : isSecure ? cell.secure : cell.legacy
            #expect(agreement.method == expected)
            #expect(agreement.strength.isAuthenticated == (expected != .justWorks))
        }
    }

    @Test(
        "Out-of-band data takes precedence: both ends need it in legacy pairing, one in LE Secure Connections",
        arguments: [false, true],
        [(false, false), (false, true), (true, false), (true, true)]
    )
    func outOfBand(isSecure: Bool, flags: (Bool, Bool)) {
        let agreement = Self.agreement(
            (.noInputNoOutput, flags.0 ? .present : .notPresent, true),
            (.noInputNoOutput, flags.1 ? .present : .notPresent, true),
            isSecure: isSecure
        )
        let isUsed = isSecure ? flags.0 || flags.1 : flags.0 && flags.1
        #expect(agreement.method == (isUsed ? .outOfBand : .justWorks))
    }

    @Test("LE Secure Connections is used only if both ends support it")
    func generations() {
        for (a, b) in [(false, false), (false, true), (true, false), (true, true)] {
            var request = SMP.PairingFeatures(), response = SMP.PairingFeatures()
            if a { request.authentication.insert(.secureConnections) }
            if b { response.authentication.insert(.secureConnections) }
            let agreement = PairingAgreement(request: request, response: response)
            #expect(agreement.isSecureConnections == (a && b))
        }
    }

    @Test("A key has the smaller of the two maximum sizes, and keeps the lowest octets", arguments: 7...16, 7...16)
    func keySize(a: Int, b: Int) {
        var request = SMP.PairingFeatures(), response = SMP.PairingFeatures()
        request.greatestKeySize = UInt8(a)
        response.greatestKeySize = UInt8(b)
        let agreement = PairingAgreement(request: request, response: response)
        #expect(agreement.keySize == min(a, b))
        let key = agreement.shortened(Key128(wire: 0x1234_5678_9ABC_DEF0_1234_5678_9ABC_DEF0))
        #expect(key.wire.littleEndianOctets.lastIndex { $0 != 0 } == min(a, b) - 1)
        #expect(agreement.shortened(Key128(wire: .max)).wire.nonzeroBitCount == 8 * min(a, b))
    }

    typealias Offer = (io: SMP.IOCapability, oob: SMP.OutOfBandFlag, mitm: Bool)

    static func agreement(_ initiator: Offer, _ responder: Offer, isSecure: Bool) -> PairingAgreement {
        let features = [initiator, responder].map { offer in
            var features = SMP.PairingFeatures()
            features.ioCapability = offer.io
            features.outOfBand = offer.oob
            if offer.mitm { features.authentication.insert(.mitm) }
            if isSecure { features.authentication.insert(.secureConnections) }
            return features
        }
        return PairingAgreement(request: features[0], response: features[1])
    }
}
