import Foundation

/// A message with options for its values.
///
/// The values are written in decimal or as they describe themselves; alignment and precision have no effect.
public struct OSLogMessage: ExpressibleByStringInterpolation, Sendable {
    let text: String

    public init(stringLiteral value: String) { text = value }
    public init(stringInterpolation: OSLogInterpolation) { text = stringInterpolation.text }
}

/// The parts of a message.
public struct OSLogInterpolation: StringInterpolationProtocol, Sendable {
    var text = ""

    public init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity) }

    public mutating func appendLiteral(_ literal: String) { text += literal }

    public mutating func appendInterpolation(
        _ value: @autoclosure () -> some Any,
        align: OSLogStringAlignment = .none,
        privacy: OSLogPrivacy = .auto
    ) {
        text += "\(value())"
    }

    public mutating func appendInterpolation(
        _ value: @autoclosure () -> some BinaryInteger,
        format: OSLogIntegerFormatting,
        align: OSLogStringAlignment = .none,
        privacy: OSLogPrivacy = .auto
    ) {
        text += format.prefix + String(value(), radix: format.radix, uppercase: format.isUppercase)
    }

    public mutating func appendInterpolation(
        _ value: @autoclosure () -> some BinaryFloatingPoint,
        format: OSLogFloatFormatting,
        align: OSLogStringAlignment = .none,
        privacy: OSLogPrivacy = .auto
    ) {
        text += "\(value())"
    }
}

/// The visibility of a value on Apple's systems.
public struct OSLogPrivacy: Hashable, Sendable {
    /// A replacement for a private value.
    public enum Mask: Sendable { case hash, none }

    public static let auto = OSLogPrivacy()
    public static let `public` = OSLogPrivacy()
    public static let `private` = OSLogPrivacy()
    public static let sensitive = OSLogPrivacy()
    public static func auto(mask: Mask) -> OSLogPrivacy { auto }
    public static func `private`(mask: Mask) -> OSLogPrivacy { auto }
    public static func sensitive(mask: Mask) -> OSLogPrivacy { auto }
}

/// The alignment of a value.
public struct OSLogStringAlignment: Hashable, Sendable {
    public static let none = OSLogStringAlignment()
    public static func left(columns: @autoclosure () -> Int) -> OSLogStringAlignment { none }
    public static func right(columns: @autoclosure () -> Int) -> OSLogStringAlignment { none }
}

/// The format of an integer.
public struct OSLogIntegerFormatting: Hashable, Sendable {
    var radix = 10
    var prefix = ""
    var isUppercase = false

    public static let decimal = OSLogIntegerFormatting()
    public static let hex = OSLogIntegerFormatting(radix: 16)
    public static let octal = OSLogIntegerFormatting(radix: 8)

    public static func decimal(explicitPositiveSign: Bool = false, minDigits: Int = 0) -> OSLogIntegerFormatting {
        decimal
    }

    public static func hex(
        explicitPositiveSign: Bool = false,
        includePrefix: Bool = false,
        uppercase: Bool = false,
        minDigits: Int = 0
    ) -> OSLogIntegerFormatting {
        OSLogIntegerFormatting(radix: 16, prefix: includePrefix ? "0x" : "", isUppercase: uppercase)
    }
}

/// The format of a floating-point number.
public struct OSLogFloatFormatting: Hashable, Sendable {
    public static let fixed = OSLogFloatFormatting()
    public static let hex = OSLogFloatFormatting()
    public static let exponential = OSLogFloatFormatting()
    public static let hybrid = OSLogFloatFormatting()
    public static func fixed(
        precision: Int = 6,
        explicitPositiveSign: Bool = false,
        uppercase: Bool = false
    ) -> OSLogFloatFormatting { fixed }
}

/// Inserts arguments into a format as `os_log` has it.
///
/// Options in braces, such as `%{public}@`, have no effect. An argument whose type does not fit its specifier is written
/// as it describes itself; a specifier without an argument is written unchanged.
func formatted(_ format: String, _ arguments: [Any]) -> String {
    var text = "", arguments = arguments[...]
    var rest = Substring(format)
    while let match = rest.firstMatch(of: /%(?:\{[^}]*\})?([-+ #0-9.]*)(?:hh|h|ll|l|q|z|t|j)?([@%A-Za-z])/) {
        text += rest[..<match.range.lowerBound]
        rest = rest[match.range.upperBound...]
        if match.2 == "%" {
            text += "%"
        } else if let argument = arguments.popFirst() {
            text += described(argument, flags: String(match.1), conversion: String(match.2))
        } else {
            text += match.0
        }
    }
    return text + rest
}

private func described(_ argument: Any, flags: String, conversion: String) -> String {
    switch (argument, conversion) {
    case (let number as any BinaryInteger, "d"), (let number as any BinaryInteger, "i"):
        String(format: "%\(flags)lld", Int64(truncatingIfNeeded: number))
    case (let number as any BinaryInteger, "u"), (let number as any BinaryInteger, "x"),
        (let number as any BinaryInteger, "X"), (let number as any BinaryInteger, "o"):
        // A negative number has the bits of its own width, as in C.
        String(format: "%\(flags)ll\(conversion)", UInt64(truncatingIfNeeded: number) & mask(number.bitWidth))
    case (let number as any BinaryFloatingPoint, "f"), (let number as any BinaryFloatingPoint, "g"),
        (let number as any BinaryFloatingPoint, "e"):
        String(format: "%\(flags)\(conversion)", Double(number))
    default: "\(argument)"
    }
}

private func mask(_ bits: Int) -> UInt64 { bits >= 64 ? .max : 1 << UInt64(max(bits, 0)) &- 1 }
