extension Rule {
    /// What all code keeps to.
    static let sources: [Rule] = [
        Rule(
            "Code aborts only where the facade says that it does",
            in: "Sources/BLERuntime/HostRunner.swift",
            applies: { isSource($0) && !$0.hasPrefix("Sources/CoreBluetooth/") },
            forbids: [["fatalError", "("], ["try", "!"], ["abort", "("]],
            allowed: [
                "try? read()", "while try !isDone() {}", "// fatalError(",
                "preconditionFailure(\"the queue is empty\")",
            ]
        ),
        Rule(
            "Nothing is left to be done later",
            in: "Sources/BLEHost/Host.swift",
            applies: { isSwift($0) && !$0.hasPrefix("Tests/TidyTests/") },
            caught: ["// TO" + "DO: later", "/// FIX" + "ME", "let XX" + "X = 1", "throw .notImplemented"],
            allowed: ["let todos = 3"]
        ) { file in
            file.findings { line in
                ["TO" + "DO", "FIX" + "ME", "XX" + "X", "notImplemented"].first { line.contains($0) }
            }
        },
        Rule(
            "Only the three products have anything public",
            in: "Sources/BLEHost/Host.swift",
            applies: { path in
                isSource(path) && !path.hasPrefix("Sources/CoreBluetooth/")
                    && !path.hasPrefix("Sources/CoreBluetoothExtras/") && !path.hasPrefix("Sources/BLESimulation/")
            },
            forbids: [
                ["public", "struct"], ["public", "enum"], ["public", "class"], ["public", "final"],
                ["public", "actor"],
                ["public", "protocol"], ["public", "typealias"], ["public", "extension"], ["public", "import"],
                ["public", "func"], ["public", "var"], ["public", "let"], ["public", "init"], ["public", "static"],
                ["open", "class"], ["open", "func"], ["open", "var"],
            ],
            allowed: ["package struct Host {}", "runner.open(file)", "case public = 0"]
        ),
        Rule(
            "Names say what things are: no managers, helpers, utilities or getters",
            in: "Sources/BLEHost/Host.swift",
            applies: { isSource($0) && !$0.hasPrefix("Sources/CoreBluetooth/") },
            caught: ["struct ScanManager {}", "enum Utils {}", "final class LinkImpl {}", "func getValue() {}"],
            allowed: [
                "let manager = CBCentralManager()", "struct Scanner {}", "func gettingStarted() {}",
                "struct SecurityManager {}",
            ],
            findings: emptyNames
        ),
        Rule(
            "Files have no banners and no sections",
            in: "Sources/BLEHost/Host.swift",
            applies: { isSwift($0) && !$0.hasPrefix("Tests/TidyTests/") },
            caught: ["// MARK: - Scanning", "//===----------===//", "// Copyright 2026"],
            allowed: ["/// | --- | --- |", "// Four octets follow."]
        ) { file in
            file.findings { line in
                let text = line.drop { $0 == " " }
                return ["// MARK", "//==", "//--", "// Copyright", "// SPDX"].first { text.hasPrefix($0) }
            }
        },
        Rule(
            "Functions fit on a screen: fifty lines",
            in: "Sources/BLEHost/Host.swift",
            applies: isSource,
            caught: ["func long() {\n" + String(repeating: "work()\n", count: 51) + "}"],
            allowed: [
                "func short() {\n" + String(repeating: "work()\n", count: 48) + "}",
                "protocol P { init() }\nstruct Big {\n" + String(repeating: "var x = 1\n", count: 60) + "}",
            ],
            findings: longFunctions
        ),
        Rule(
            "Tests do not sleep but by the clock of a world",
            in: "Tests/BLEHostTests/HostTests.swift",
            // An app that sleeps is what that file is about.
            applies: {
                $0.hasPrefix("Tests/") && isSwift($0) && !$0.hasPrefix("Tests/TidyTests/")
                    && !$0.hasSuffix("/Support/AppTimer.swift")
            },
            caught: [
                "await Task.sleep(for: .seconds(1))", "Thread.sleep(forTimeInterval: 1)", "usleep(1)", "sleep(1)",
                "nanosleep(&time, nil)", "await ContinuousClock().sleep(for: time)",
            ],
            allowed: ["await world.clock.sleep(for: .seconds(1))"],
            findings: sleeping
        ),
    ]
}

@Sendable private func sleeping(in file: SourceFile) -> [Finding] {
    file.positions(ofAny: ["sleep", "usleep", "nanosleep"]).compactMap { index in
        let before = file.tokens[..<index].suffix(4).map(\.text)
        return before == ["world", ".", "clock", "."]
            ? nil : Finding(line: file.tokens[index].line, complaint: "`\(file.tokens[index].text)`")
    }
}

/// What the Core Specification calls a part of the host.
private let specified = "SecurityManager"

@Sendable private func emptyNames(in file: SourceFile) -> [Finding] {
    let keywords = ["struct", "class", "enum", "actor", "protocol", "typealias", "func"]
    return file.positions(ofAny: keywords).compactMap { index in
        guard index + 1 < file.tokens.count else { return nil }
        let name = file.tokens[index + 1].text
        switch file.tokens[index].text {
        case "func":
            let isGetter = name.hasPrefix("get") && name.dropFirst(3).first?.isUppercase == true
            return isGetter ? Finding(line: file.tokens[index].line, complaint: "func `\(name)`") : nil
        default:
            let isEmpty = ["Manager", "Helper", "Helpers", "Util", "Utils", "Utilities", "Impl"]
                .contains { name.hasSuffix($0) && name != specified }
            return isEmpty ? Finding(line: file.tokens[index].line, complaint: "type `\(name)`") : nil
        }
    }
}

@Sendable private func longFunctions(in file: SourceFile) -> [Finding] {
    file.positions(ofAny: ["func", "init"]).compactMap { index in
        let keyword = file.tokens[index]
        let declares = keyword.text == "func" || (keyword.text == "init" && file.isDeclaration(at: index))
        guard declares, let brace = file.body(of: index) else { return nil }
        let length = file.tokens[file.closing(brace)].line - keyword.line + 1
        return length > 50 ? Finding(line: keyword.line, complaint: "\(length) lines") : nil
    }
}

extension SourceFile {
    /// What `describe` says of each line that it has something to say of.
    func findings(_ describe: (Substring) -> String?) -> [Finding] {
        lines.indices.compactMap { index in
            describe(lines[index]).map { Finding(line: index + 1, complaint: $0) }
        }
    }

    /// The names of the modules that the file imports.
    var imports: [SwiftToken] {
        positions(of: ["import"]).compactMap { position in
            let next = position + 1
            guard next < tokens.count, !["struct", "class", "enum", "func", "protocol"].contains(tokens[next].text)
            else { return next + 1 < tokens.count ? tokens[next + 1] : nil }
            return tokens[next]
        }
    }

    /// Whether the `init` at `index` declares an initializer rather than calling one.
    fileprivate func isDeclaration(at index: Int) -> Bool { index == 0 || tokens[index - 1].text != "." }

    /// Where the body of the function declared at `index` begins; `nil` if it has none, as in a protocol.
    fileprivate func body(of index: Int) -> Int? {
        var position = index + 1
        while position < tokens.count {
            switch tokens[position].text {
            case "{": return position
            case "(", "[": position = closing(position)
            case "}", "func", "init", "var", "let", "case", "struct", "enum": return nil
            default: break
            }
            position += 1
        }
        return nil
    }
}
