import SwiftSyntax

/// The changes to one source file.
///
/// A change replaces a range of octets. Apart from ``insert(_:at:)``, the file keeps its lines and columns: blanks fill
/// what is left of the range.
struct Edits {
    private var changes: [(range: Range<Int>, octets: [UInt8])] = []
    private var appended = ""

    var isEmpty: Bool { changes.isEmpty && appended.isEmpty }

    /// Replaces a range with blanks, and keeps its line breaks.
    mutating func blank(_ range: Range<Int>, of source: [UInt8]) {
        changes.append((range, source[range].map { [0x0A, 0x0D].contains($0) ? $0 : 0x20 }))
    }

    /// Replaces the beginning of a range with a text, and blanks the rest.
    ///
    /// The text must not be longer than the range, and the range must not contain line breaks.
    mutating func replace(_ range: Range<Int>, with text: String) {
        let octets = Array(text.utf8)
        precondition(octets.count <= range.count, "a replacement must fit into the range that it replaces")
        changes.append((range, octets + Array(repeating: 0x20, count: range.count - octets.count)))
    }

    /// Replaces a range with a text of any length on the same lines: what follows on its last line moves.
    mutating func substitute(_ range: Range<Int>, with text: String) { changes.append((range, Array(text.utf8))) }

    /// Inserts a text at a position: what follows on that line moves.
    mutating func insert(_ text: String, at position: Int) { substitute(position..<position, with: text) }

    /// Adds declarations after the last line.
    mutating func append(_ declarations: String) { appended += declarations }

    /// Returns the changed text.
    ///
    /// If ranges overlap, the outer one counts, or the first one.
    func applied(to source: [UInt8]) -> String {
        let sorted = changes.enumerated().sorted { first, second in
            let (one, other) = (first.element.range, second.element.range)
            if one.lowerBound != other.lowerBound { return one.lowerBound < other.lowerBound }
            if one.isEmpty != other.isEmpty { return one.isEmpty }
            return one.upperBound != other.upperBound
                ? one.upperBound > other.upperBound : first.offset < second.offset
        }
        var result: [UInt8] = []
        result.reserveCapacity(source.count + appended.utf8.count)
        var position = 0
        for (_, change) in sorted where change.range.lowerBound >= position {
            result += source[position..<change.range.lowerBound]
            result += change.octets
            position = change.range.upperBound
        }
        result += source[position...]
        if !appended.isEmpty {
            if result.last != 0x0A { result.append(0x0A) }
            result += Array(appended.utf8)
        }
        return String(decoding: result, as: UTF8.self)
    }
}

extension SyntaxProtocol {
    /// The octets of the node without the blanks and comments around it.
    var octets: Range<Int> {
        positionAfterSkippingLeadingTrivia.utf8Offset..<endPositionBeforeTrailingTrivia.utf8Offset
    }
}
