import BLERuntime

/// An editor for a line on a terminal: it takes the octets that the user types, and returns events and the text to
/// show.
///
/// It neither reads nor writes: its caller passes each octet to ``take(_:complete:)``, carries out the event, and shows
/// ``rendered(after:columns:)``. Each character is taken to be one column wide.
struct LineEditor {
    /// The event that an octet causes.
    enum OnOctet: Equatable {
        /// The line or the cursor may have changed, so the caller must show the line again.
        case edit
        /// The user entered this line.
        case enter(String)
        /// The user needs to see these completions.
        case list([String])
        /// The user dropped the line, with Ctrl-C.
        case cancel
        /// The user ended the input, with Ctrl-D on an empty line.
        case end
        /// The user wants an empty screen, with Ctrl-L.
        case clear
    }

    /// The possible continuations of a line.
    struct Completions: Equatable {
        /// The number of characters before the cursor that a candidate replaces.
        var replaced: Int
        var candidates: [String]
    }

    private enum Input {
        case text
        /// The first octets of an incomplete UTF-8 character.
        case character([UInt8], missing: Int)
        /// Escape has been received.
        case escape
        /// Escape and “[” or “O” have been received, and then these parameters.
        case sequence([UInt8])
    }

    /// The maximum number of lines in the history; the oldest line is dropped.
    private static let mostLines = 1_000
    /// The maximum length of a line in characters; further characters are ignored.
    private static let mostCharacters = 4_096
    /// The maximum number of parameter octets of an escape sequence; further octets are dropped.
    private static let mostParameters = 16

    private var input = Input.text
    private var characters: [Character] = []
    private var cursor = 0
    private var history: [String] = []
    /// The index in ``history`` of the line that is shown; if that is the line being written, the number of lines in
    /// ``history``.
    private var place = 0
    /// The line that was being written when the user went back in the history.
    private var draft: [Character] = []

    /// The text of the line that is being edited.
    var text: String { String(characters) }

    /// Processes an octet.
    ///
    /// - Parameters:
    ///   - octet: The octet, from a terminal in raw mode.
    ///   - complete: Returns the completions of the part of the line before the cursor.
    /// - Returns: The event that the octet causes.
    mutating func take(_ octet: UInt8, complete: (String) -> Completions) -> OnOctet {
        switch input {
        case .text: return begin(octet, complete)
        case .character(let octets, let missing):
            guard octet & 0xC0 == 0x80 else {
                input = .text
                return begin(octet, complete)
            }
            let all = octets + [octet]
            input = missing > 1 ? .character(all, missing: missing - 1) : .text
            if missing == 1, let character = String(validating: all, as: UTF8.self)?.first { insert([character]) }
        case .escape: input = octet == UInt8(ascii: "[") || octet == UInt8(ascii: "O") ? .sequence([]) : .text
        case .sequence(let parameters):
            guard 0x40...0x7E ~= octet else {
                if parameters.count < Self.mostParameters { input = .sequence(parameters + [octet]) }
                break
            }
            input = .text
            perform(octet, parameters)
        }
        return .edit
    }

    /// Processes an octet that begins a character or a control sequence, or is a control character.
    private mutating func begin(_ octet: UInt8, _ complete: (String) -> Completions) -> OnOctet {
        switch octet {
        case 0x0A, 0x0D: return .enter(enter())
        case 0x03:
            reset()
            return .cancel
        case 0x04:
            if characters.isEmpty { return .end }
            deleteForward()
        case 0x09: return self.complete(complete)
        case 0x0C: return .clear
        case 0x01: cursor = 0
        case 0x05: cursor = characters.count
        case 0x02: cursor = max(0, cursor - 1)
        case 0x06: cursor = min(characters.count, cursor + 1)
        case 0x08, 0x7F: deleteBackward(to: cursor - 1)
        case 0x0B: characters.removeSubrange(cursor...)
        case 0x15: deleteBackward(to: 0)
        case 0x17: deleteBackward(to: startOfWord)
        case 0x10: recall(place - 1)
        case 0x0E: recall(place + 1)
        case 0x1B: input = .escape
        case 0x20..<0x7F: insert([Character(Unicode.Scalar(octet))])
        case 0xC2...0xDF: input = .character([octet], missing: 1)
        case 0xE0...0xEF: input = .character([octet], missing: 2)
        case 0xF0...0xF4: input = .character([octet], missing: 3)
        default: break
        }
        return .edit
    }

    /// Carries out the escape sequence of a key; `final` is its last octet, and `parameters` are the octets before
    /// that.
    private mutating func perform(_ final: UInt8, _ parameters: [UInt8]) {
        switch (Character(Unicode.Scalar(final)), String(decoding: parameters, as: UTF8.self)) {
        case ("A", _): recall(place - 1)
        case ("B", _): recall(place + 1)
        case ("C", _): cursor = min(characters.count, cursor + 1)
        case ("D", _): cursor = max(0, cursor - 1)
        case ("H", _), ("~", "1"), ("~", "7"): cursor = 0
        case ("F", _), ("~", "4"), ("~", "8"): cursor = characters.count
        case ("~", "3"): deleteForward()
        default: break
        }
    }

    private mutating func insert(_ new: [Character]) {
        let room = Self.mostCharacters - characters.count
        characters.insert(contentsOf: new.prefix(max(0, room)), at: cursor)
        cursor += min(new.count, max(0, room))
    }

    private mutating func deleteForward() {
        if cursor < characters.count { characters.remove(at: cursor) }
    }

    private mutating func deleteBackward(to start: Int) {
        guard start >= 0, start < cursor else { return }
        characters.removeSubrange(start..<cursor)
        cursor = start
    }

    /// The index in the line at which the word before the cursor begins.
    private var startOfWord: Int {
        let end = characters[..<cursor].lastIndex { $0 != " " } ?? 0
        return characters[..<end].lastIndex(of: " ").map { $0 + 1 } ?? 0
    }

    private mutating func enter() -> String {
        let line = text
        if !line.isEmpty, line != history.last { history.append(line) }
        if history.count > Self.mostLines { history.removeFirst() }
        reset()
        return line
    }

    private mutating func reset() {
        (characters, cursor, draft) = ([], 0, [])
        place = history.count
    }

    /// Shows the line with this index in ``history``, or the draft for the index after the last line.
    private mutating func recall(_ new: Int) {
        guard 0...history.count ~= new, new != place else { return }
        if place == history.count { draft = characters }
        place = new
        characters = new == history.count ? draft : Array(history[new])
        cursor = characters.count
    }

    /// Inserts the text with which all completions begin; if the line already contains that text, lists the
    /// completions.
    private mutating func complete(_ complete: (String) -> Completions) -> OnOctet {
        let found = complete(String(characters[..<cursor]))
        guard let first = found.candidates.first, 0...cursor ~= found.replaced else { return .edit }
        let start = cursor - found.replaced
        let common = found.candidates.dropFirst().reduce(first) { $0.commonPrefix(with: $1) }
        let isOnly = found.candidates.count == 1
        guard isOnly || common.count > found.replaced else { return .list(found.candidates) }
        deleteBackward(to: start)
        insert(Array(common) + (isOnly ? [" "] : []))
        return .edit
    }

    /// Returns one character to show for a character of the line.
    private static func shown(_ character: Character) -> String {
        let text = String(character)
        return text == text.printable ? text : "\u{FFFD}"
    }

    /// Returns the text that makes the terminal show the prompt and the line, in place of its current line.
    ///
    /// `columns` is the width of the terminal. If the line is too long for it, the part around the cursor is shown.
    /// U+FFFD replaces each character that is unsafe on a terminal.
    func rendered(after prompt: String, columns: Int) -> String {
        let room = max(8, columns - prompt.count - 1)
        let start = max(0, cursor - room), end = min(characters.count, start + room)
        let back = end - cursor
        let text = characters[start..<end].map(Self.shown).joined()
        return "\r" + prompt + text + "\u{1B}[K" + (back > 0 ? "\u{1B}[\(back)D" : "")
    }
}

extension String {
    fileprivate func commonPrefix(with other: String) -> String {
        String(zip(self, other).prefix { $0 == $1 }.map(\.0))
    }
}
