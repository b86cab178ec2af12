/// The result of a measurement.
struct Result {
    /// A value with its name.
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
    /// True if the workload did what it should.
    ///
    /// Otherwise the measurement is invalid.
    let isGood: Bool

    /// Returns the figures for a simulation of `simulatedSeconds` that took `seconds` of processor time.
    ///
    /// The figures are the processor time, the simulated time per processor time, the number of advertising reports,
    /// and the processor time per report.
    static func pace(of simulatedSeconds: Int, taking seconds: Double, reports: Int) -> [Figure] {
        [
            Figure("cpu_seconds", .number(seconds)),
            Figure("speed", .number(Double(simulatedSeconds) / seconds)),
            Figure("reports", .count(reports)),
            Figure("us_per_report", .number(seconds * 1e6 / Double(max(reports, 1)))),
        ]
    }

    /// The result as a JSON object.
    var json: String {
        let fields = [Figure("workload", .text(workload))] + figures + [Figure("good", .truth(isGood))]
        return "{" + fields.map { "\"\($0.name)\": \($0.value.json)" }.joined(separator: ", ") + "}"
    }

    /// The figure that the table compares with other stacks, with its unit; `nil` if the result has no such figure.
    private var headline: (value: Double, unit: String)? {
        for (name, unit) in [("ns", "ns"), ("speed", "s/s"), ("kB_s", "kB/s"), ("cpu_seconds", "s")] {
            guard let figure = figures.first(where: { $0.name == name }) else { continue }
            if case .number(let number) = figure.value { return (number, unit) }
        }
        return nil
    }

    /// Returns a table for users, with our results and those of other stacks.
    ///
    /// `ns` is the processor time of one operation, `s/s` is the simulated time per processor time, `kB/s` is the
    /// throughput, and `s` is the processor time of the whole run.
    static func table(_ results: [Result]) -> String {
        let rows = results.map { result in
            let others = OthersFigures.of(result.workload), ours = result.headline
            let verdict = result.isGood ? "" : "  FAILED"
            return [
                result.workload,
                ours.map { "\(short($0.value)) \($0.unit)" } ?? "–",
                others.nimble.map(short) ?? "–",
                others.bumble.map(short) ?? "–",
                result.explanation + verdict,
            ]
        }
        let all = [["workload", "ours", "NimBLE", "Bumble", "what"]] + rows
        let widths = (0..<5).map { column in all.map { $0[column].count }.max() ?? 0 }
        return all.map { row in
            let cells = row.indices.map { column in
                let gap = String(repeating: " ", count: widths[column] - row[column].count)
                return column == 0 || column == 4 ? row[column] + (column == 4 ? "" : gap) : gap + row[column]
            }
            return cells.joined(separator: "  ")
        }.joined(separator: "\n")
    }

    /// Returns a number without decimals if it is at least 100, with one decimal if it is at least 1, otherwise with
    /// three.
    private static func short(_ number: Double) -> String {
        number >= 100
            ? "\(Int(number.rounded()))"
            : number >= 1 ? "\((number * 10).rounded() / 10)" : "\((number * 1_000).rounded() / 1_000)"
    }
}
