/// The path of a serial port with a controller, and the port's settings.
package struct SerialAddress: Hashable, Sendable, CustomStringConvertible {
    /// The default speed of Zephyr's controllers, in baud.
    package static let usualRate: UInt32 = 1_000_000

    package let path: String
    /// The speed in baud.
    ///
    /// A USB port ignores it.
    package let rate: UInt32
    /// True for hardware flow control (RTS/CTS).
    package let hasFlowControl: Bool

    package init(path: String, rate: UInt32 = usualRate, hasFlowControl: Bool = false) {
        self.path = path
        self.rate = rate
        self.hasFlowControl = hasFlowControl
    }

    /// Parses `PATH[@RATE][,rtscts]`.
    ///
    /// - Throws: An error that says what is wrong with the text.
    init(_ text: String) throws(HostSpecification.Malformed) {
        func malformed(_ reason: String) -> HostSpecification.Malformed {
            HostSpecification.Malformed(text: "serial:" + text, reason: reason)
        }
        var rest = text[...], hasFlowControl = false, rate = Self.usualRate
        if let comma = rest.lastIndex(of: ",") {
            let option = rest[rest.index(after: comma)...]
            guard option == "rtscts" else { throw malformed("“\(option)” is not an option; the only one is rtscts") }
            hasFlowControl = true
            rest = rest[..<comma]
        }
        if let at = rest.lastIndex(of: "@") {
            let number = rest[rest.index(after: at)...]
            do throws(Bounds<UInt32>.Refusal) {
                rate = try Bounds(1_200...12_000_000).read(number)
            } catch {
                throw malformed("“\(number)” is not a rate (\(error))")
            }
            rest = rest[..<at]
        }
        guard rest.hasPrefix("/") else { throw malformed("the port must be an absolute path, such as /dev/ttyACM0") }
        self.init(path: String(rest), rate: rate, hasFlowControl: hasFlowControl)
    }

    package var description: String { "serial:\(path)@\(rate)\(hasFlowControl ? ",rtscts" : "")" }
}
