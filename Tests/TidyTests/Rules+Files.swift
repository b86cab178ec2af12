extension Rule {
    /// What all files keep to.
    static let files: [Rule] = [
        Rule(
            "Files are short: 400 lines, unless they are tables",
            in: "Sources/BLEHost/Host.swift",
            applies: { isProgram($0) && !tables.contains($0) },
            caught: [String(repeating: "\n", count: 401)],
            allowed: [String(repeating: "\n", count: 399)]
        ) { file in
            file.lines.count > 401 ? [Finding(line: 401, complaint: "\(file.lines.count - 1) lines")] : []
        },
        Rule(
            "Lines have at most 120 columns",
            in: "Sources/BLEHost/Host.swift",
            applies: isProgram,
            caught: [String(repeating: "x", count: 121)],
            allowed: [String(repeating: "é", count: 120)]
        ) { file in
            file.findings { $0.count > 120 ? "\($0.count) columns" : nil }
        },
        Rule(
            "Nothing names a folder of somebody's machine",
            in: "Sources/BLEHost/Host.swift",
            applies: { _ in true },
            caught: machineFolders.map { "\"\($0)project\"" },
            allowed: ["https://example.org/homepage", "Sources/BLEHost", "the /dev/ttyACM0 of a board"]
        ) { file in
            file.findings { line in
                machineFolders.first { folder in
                    line.ranges(of: folder).contains { range in
                        range.lowerBound == line.startIndex
                            || !line[line.index(before: range.lowerBound)].isPathCharacter
                    }
                }
            }
        },
        Rule(
            "No file only keeps a place",
            in: "Sources/BLEHost/Placeholder.swift",
            applies: { $0.hasSuffix("/Placeholder.swift") },
            caught: [""]
        ) { _ in [Finding(line: 1, complaint: "a placeholder")] },
    ]

    /// Tables of assigned numbers, which are as long as what they list.
    private static let tables: Set = ["Sources/ble/AssignedNumbers.swift"]

    private static let machineFolders = ["work", "home", "Users", "root", "src"].map { "/" + $0 + "/" }
}

@Sendable private func isProgram(_ path: String) -> Bool {
    [".swift", ".py", ".c", ".sh", "/run", "/setup"].contains { path.hasSuffix($0) }
}

extension Character {
    fileprivate var isPathCharacter: Bool { isLetter || isNumber || "-_.:/}".contains(self) }
}
