import BLEWire
import CoreFoundation
import Testing

@testable import CoreBluetooth

@Suite("CBUUID")
struct CBUUIDTests {
    static let long = "0000180D-0000-1000-8000-00805F9B34FB"

    @Test(
        "A CBUUID keeps the form in which it was made",
        .behaviour("1.10.4"),
        arguments: [
            ("180d", "180D", [0x18, 0x0D]), ("0000180d", "0000180D", [0, 0, 0x18, 0x0D]),
            ("0x180D", "180D", [0x18, 0x0D]), ("0X180d", "180D", [0x18, 0x0D]),
            ("0xfEeD180d", "FEED180D", [0xFE, 0xED, 0x18, 0x0D]),
            (
                "0000180d-0000-1000-8000-00805f9b34fb", long,
                [0, 0, 0x18, 0x0D, 0, 0, 0x10, 0, 0x80, 0, 0, 0x80, 0x5F, 0x9B, 0x34, 0xFB]
            ),
        ] as [(String, String, [UInt8])]
    )
    func forms(text: String, upper: String, octets: [UInt8]) {
        let uuid = CBUUID(string: text)
        #expect(uuid.uuidString == upper)
        #expect([UInt8](uuid.data) == octets)
        #expect(CBUUID(data: uuid.data) == uuid)
        #expect(CBUUID(data: uuid.data).uuidString == upper)
    }

    @Test("A CBUUID is equal in all forms, in the collections of Foundation and Swift", .behaviour("1.10.1", "1.10.2"))
    func equality() throws {
        let whole = try #require(UUID(uuidString: Self.long))
        let forms = [
            CBUUID(string: "180D"), CBUUID(string: "0000180D"), CBUUID(string: Self.long), CBUUID(nsuuid: whole),
            CBUUID(NSUUID: whole), CBUUID(data: Data([0x18, 0x0D])),
        ]
        for form in forms {
            #expect(form == forms[0])
            #expect(form.isEqual(forms[0]))
            #expect(form.hash == forms[0].hash)
        }
        #expect(Set(forms).count == 1)
        #expect(NSSet(array: forms).count == 1)
        #expect([forms[0]: 1][forms[2]] == 1)
        #expect(CBUUID(string: "180D") != CBUUID(string: "180F"))
        #expect(CBUUID(string: "180D") != CBUUID(string: "0000180D-0000-1000-8000-00805F9B34FC"))
        #expect(!CBUUID(string: "180D").isEqual("180D"))
    }

    @Test("The description is the assigned name, or otherwise the UUID string", .behaviour("1.10.3"))
    func description() {
        #expect("\(CBUUID(string: "180F"))".hasPrefix("Battery"))
        #expect("\(CBUUID(string: "FFF0"))" == "FFF0")
    }

    @Test("Copying a CBUUID returns the same object")
    func copy() {
        let uuid = CBUUID(string: "180D")
        #expect(uuid.copy() as AnyObject === uuid)
    }

    @available(*, deprecated)
    private func fromCoreFoundation(_ text: String) -> [CBUUID] {
        let bytes = [UInt8](CBUUID(string: text).data)
        let uuid = CFUUIDCreateWithBytes(
            nil,
            bytes[0],
            bytes[1],
            bytes[2],
            bytes[3],
            bytes[4],
            bytes[5],
            bytes[6],
            bytes[7],
            bytes[8],
            bytes[9],
            bytes[10],
            bytes[11],
            bytes[12],
            bytes[13],
            bytes[14],
            bytes[15]
        )!
        return [CBUUID(cfuuid: uuid), CBUUID(CFUUID: uuid)]
    }

    @Test("A CBUUID can be made from Core Foundation's type")
    @available(*, deprecated)
    func coreFoundation() {
        for uuid in fromCoreFoundation(Self.long) { #expect(uuid.uuidString == Self.long) }
    }

    @Test("Making a CBUUID from anything else ends the program", .behaviour("4.8.1", "4.8.2"))
    func refusal() async {
        let text = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = CBUUID(string: "not a UUID")
        }
        #expect(complaint(text).contains(#"String "not a UUID" does not represent a valid UUID"#))
        let prefix = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = CBUUID(string: "0x0x180D")
        }
        #expect(complaint(prefix).contains(#"String "0x0x180D" does not represent a valid UUID"#))
        let data = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = CBUUID(data: Data([1, 2, 3]))
        }
        #expect(complaint(data).contains("does not represent a valid UUID"))
    }

    @Test("The error message has the line of the app that made the CBUUID", .behaviour("4.8.10"))
    func blame() async {
        let end = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            Self.makeJunk()
        }
        #expect(complaint(end).contains("Fatal error: String \"junk\" does not"))
        #expect(complaint(end).contains("CBUUIDTests.swift:\(Self.lineOfJunk)\n"))
    }

    private static let lineOfJunk = #line + 3

    @inline(never) private static func makeJunk() {
        _ = ["180D", "junk"].map(CBUUID.init(string:))
    }
}
