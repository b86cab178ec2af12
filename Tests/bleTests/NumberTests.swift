import ArgumentParser
import Testing

@testable import ble

@Suite("Numbers on the command line")
struct NumberTests {
    /// What no option takes.
    private static let senseless = ["-1e999", "1e20", "1e999", "nan", "inf", "-1", "one", "99999999999999999999"]

    /// Where commands take a number: what comes before it, one that is taken, and what is refused besides.
    private static let options: [(command: [String], option: String, good: String, bad: [String])] = [
        (["demo"], "--seed", "18446744073709551615", ["1.5", "18446744073709551616"]),
        (["demo"], "--loss", "0.9", ["0.91"]),
        (["scan"], "--duration", "0.5", ["31536001"]),
        (["inspect", "Lamp"], "--timeout", "0.5", ["0", "31536001"]),
        (["read", "Lamp", "2A00"], "--timeout", "31536000", ["0"]),
        (["read", "Lamp", "2A00"], "--every", "0", ["31536001"]),
        (["read", "Lamp", "2A00"], "--count", "9223372036854775807", ["0", "1.5", "9223372036854775808"]),
        (["write", "Lamp", "2A00", "00"], "--timeout", "1", ["0"]),
        (["notify", "Lamp", "2A00"], "--timeout", "1", ["0"]),
        (["notify", "Lamp", "2A00"], "--duration", "0.5", ["31536001"]),
        (["notify", "Lamp", "2A00"], "--count", "1", ["0", "1.5"]),
        (["serve", "lamp.json"], "--duration", "1", ["31536001"]),
        (["channel", "open", "Store"], "--psm", "255", ["0", "256"]),
        (["channel", "open", "Store"], "--count", "0", ["0.5"]),
        (["channel", "open", "Store"], "--timeout", "1", ["0"]),
        (["channel", "serve"], "--count", "0", ["0.5"]),
        (["radio"], "--port", "65535", ["0", "65536"]),
        (["radio"], "--shared-port", "65535", ["0", "65536"]),
        (["radio", "--port", "1"], "--seed", "0", ["1.5"]),
        (["radio", "--port", "1"], "--loss", "0", ["0.91"]),
    ]

    @Test("A huge, negative or invalid number is refused with the option and its range", arguments: options.indices)
    func refused(index: Int) {
        let (command, option, good, bad) = Self.options[index]
        #expect(throws: Never.self) { try Ble.parseAsRoot(command + ["\(option)=\(good)"]) }
        for number in bad + Self.senseless {
            let error = #expect(throws: (any Error).self, "\(number)") {
                try Ble.parseAsRoot(command + ["\(option)=\(number)"])
            }
            guard let error else { continue }
            let message = Ble.message(for: error)
            #expect(message.contains(option) && message.hasSuffix(" is expected"), "\(number): \(message)")
            #expect(Ble.exitCode(for: error) == .validationFailure)
        }
    }
}
