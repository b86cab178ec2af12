import ArgumentParser
import BLERuntime
import Foundation
import Testing

@testable import ble

@Suite("Octets on the command line")
struct OctetsTests {
    @Test(
        "Hexadecimal digits are octets, with or without 0x",
        arguments: [("", []), ("00", [0]), ("0aFf", [0x0A, 0xFF]), ("0x0102", [1, 2])] as [(String, [UInt8])]
    )
    func digits(text: String, octets: [UInt8]) throws {
        #expect(try Octets.parseDigits(text) == Data(octets))
    }

    @Test("Invalid hexadecimal digits are refused", arguments: ["0", "0g", "12 34", "１２", "-1"])
    func noDigits(text: String) {
        #expect(throws: ValidationError.self) { try Octets.parseDigits(text) }
    }

    @Test("A value is text unless it begins with 0x")
    func values() {
        #expect(Octets.parse("64") == Data("64".utf8))
        #expect(Octets.parse("0x64") == Data([0x64]))
        #expect(Octets.parse("0xzz") == nil)
        #expect(Octets.parse("") == Data())
    }

    @Test("Control characters from a peer do not reach the terminal")
    func printable() {
        #expect("a\u{1B}[2Jb".printable == "a\u{FFFD}[2Jb")
        #expect(Data([0x1B, 0x5B]).text == nil)
        #expect(Data("Lampe".utf8).shown == "4c616d7065 “Lampe”")
        #expect(Data("a\u{202E}b".utf8).shown == "61e280ae62 “a\u{FFFD}b”")
    }
}
