/// What was measured.
struct Result {
    /// A number with its name.
    struct Figure {
        let name: String
        let value: Value
        init(_ name: String, _ value: Value) {
            self.name = name
            self.value = value
        }
    }

    enum Value: CustomStringConvertible {
        case count(Int)
        case number(Double)
        case text(String)
        case truth(Bool)

        var description: String {
            switch self {
            case .count(let count): "\(count)"
            case .number(let number): "\((number * 1_000).rounded() / 1_000)"
            case .text(let text): text
            case .truth(let truth): "\(truth)"
            }
        }

        fileprivate var json: String {
            if case .text(let text) = self { "\"\(text)\"" } else { description }
        }
    }

    let workload: String
    let explanation: String
    let figures: [Figure]
    /// Whether what was to be seen was seen; a measurement of something else is worth nothing.
    let isGood: Bool

    /// One JSON object.
    var json: String {
        let fields = [Figure("workload", .text(workload))] + figures + [Figure("good", .truth(isGood))]
        return "{" + fields.map { "\"\($0.name)\": \($0.value.json)" }.joined(separator: ", ") + "}"
    }

    /// Lines for people.
    static func table(_ results: [Result]) -> String {
        let width = results.map(\.workload.count).max() ?? 0
        return results.map { result in
            let name = result.workload + String(repeating: " ", count: width - result.workload.count)
            let figures = result.figures.map { "\($0.name) \($0.value)" }.joined(separator: ", ")
            return "\(name)  \(result.explanation): \(figures)\(result.isGood ? "" : "  FAILED")"
        }.joined(separator: "\n")
    }
}
