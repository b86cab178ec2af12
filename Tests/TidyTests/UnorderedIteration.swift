/// Finds where `file` goes through the elements of what it, or another file of its target, declares as a
/// dictionary or set.
///
/// Types are not known here, only names: one that means an array elsewhere in the target counts in its own file
/// alone, and a value that a function returns is not seen at all.
@Sendable func unorderedIteration(in file: SourceFile) -> [Finding] {
    let declared = Declarations(in: file)
    let elsewhere = ofTarget[file.target ?? ""]?.unambiguous ?? []
    let names = declared.unordered.union(elsewhere.subtracting(declared.other.union(declared.labels)))
    return file.positions(ofAny: names).compactMap { index in
        let token = file.tokens[index]
        guard index > 0, index + 2 < file.tokens.count else { return nil }
        let next = file.tokens[index + 1], afterNext = file.tokens[index + 2]
        let isLooped = next.text == "{" && startsLoop(before: index, in: file)
        let isWalked = next.text == "." && orderDependent.contains(afterNext.text)
        return isLooped || isWalked ? Finding(line: token.line, complaint: "iterates `\(token.text)`") : nil
    }
}

/// Members of dictionaries and sets whose result depends on the order of the elements, or may.
private let orderDependent: Set = [
    "values", "keys", "map", "compactMap", "flatMap", "forEach", "reduce", "first", "enumerated", "makeIterator",
    "sorted", "min", "max", "popFirst", "randomElement", "prefix", "dropFirst", "lazy",
]

/// Whether the name at `index` is what a `for … in` goes through: `in name` or `in self.name`.
private func startsLoop(before index: Int, in file: SourceFile) -> Bool {
    var position = index - 1
    while position > 1, file.tokens[position].text == "." { position -= 2 }
    guard file.tokens[position].text == "in" else { return false }
    return file.tokens[..<position].suffix(12).contains { $0.text == "for" }
}

/// The names of variables and constants.
private struct Declarations {
    /// Those of dictionaries and sets.
    var unordered: Set<String> = []
    /// Those of everything else.
    var other: Set<String> = []
    /// Those of parameters, and whatever else a colon follows.
    var labels: Set<String> = []

    var unambiguous: Set<String> { unordered.subtracting(other) }

    init() {}

    init(in file: SourceFile) {
        for index in file.tokens.indices.dropLast(2) where file.tokens[index].isWord {
            let isVariable = index > 0 && ["var", "let"].contains(file.tokens[index - 1].text)
            let isTyped = file.tokens[index + 1].text == ":" || (isVariable && file.tokens[index + 1].text == "=")
            if isTyped, isUnordered(at: index + 2, in: file) {
                unordered.insert(file.tokens[index].text)
            } else if isVariable {
                other.insert(file.tokens[index].text)
            } else if isTyped {
                labels.insert(file.tokens[index].text)
            }
        }
    }
}

private let ofTarget: [Substring: Declarations] = SourceFile.all.filter { isCore($0.path) }.reduce(into: [:]) {
    let declared = Declarations(in: $1)
    $0[$1.target ?? "", default: Declarations()].unordered.formUnion(declared.unordered)
    $0[$1.target ?? "", default: Declarations()].other.formUnion(declared.other)
}

/// Whether a dictionary or set, or its type, begins at `index`.
private func isUnordered(at index: Int, in file: SourceFile) -> Bool {
    switch file.tokens[index].text {
    case "Set", "Dictionary": return true
    case "[":
        var position = index + 1
        let end = file.closing(index)
        while position < end {
            if file.tokens[position].text == ":" { return true }
            position = ["[", "(", "{"].contains(file.tokens[position].text) ? file.closing(position) + 1 : position + 1
        }
        return false
    default: return false
    }
}
