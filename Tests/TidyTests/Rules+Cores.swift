extension Rule {
    /// What keeps the cores deterministic and safe from strangers' bytes.
    static let cores: [Rule] = [
        Rule(
            "A core imports nothing that can touch the machine",
            in: "Sources/BLEHost/Host.swift",
            applies: isCore,
            caught: ["import Foundation", "package import Dispatch", "import Glibc", "import Synchronization"],
            allowed: ["package import BLEWire", "import BLECrypto", "import Crypto"]
        ) { file in
            var allowed: Set = ["BLEWire", "BLECrypto", "Crypto", "CryptoExtras"]
            if file.path.hasPrefix("Sources/BLESession/") { allowed.insert("BLEHost") }
            return file.imports.filter { !allowed.contains($0.text) }
                .map { Finding(line: $0.line, complaint: "imports \($0.text)") }
        },
        Rule(
            "A core knows no clock, no thread and no concurrency",
            in: "Sources/BLEHost/Host.swift",
            applies: isCore,
            forbids: [
                ["Date"], ["ContinuousClock"], ["SuspendingClock"], ["DispatchQueue"], ["DispatchTime"], ["Thread"],
                ["Task"], ["async"], ["actor"], ["print", "("], ["Mutex"],
            ],
            allowed: ["/// A Task for the runtime.", "let text = \"Date\"", "let dateOfBirth = 1"]
        ),
        Rule(
            "A core draws only from the generator that it was given",
            in: "Sources/BLEHost/Host.swift",
            applies: isCore,
            caught: [
                "SystemRandomNumberGenerator()", "UInt8.random(in: 0...9)", "Bool.random()", "list.shuffled()",
                "list.randomElement()",
            ],
            allowed: ["UInt8.random(in: 0...9, using: &random)", "list.randomElement(using: &random)"],
            findings: ambientRandomness
        ),
        Rule(
            "A core never iterates a dictionary or a set, whose order differs in each process",
            in: "Sources/BLEHost/Host.swift",
            applies: isCore,
            caught: [
                "var peers: [Int: String]; for peer in peers {}",
                "var peers: [Int: [String]] = [:]\n let all = self.peers.values",
                "let seen: Set<Int>; seen.forEach { use($0) }",
                "var seen = Set<Int>()\n for (index, one) in seen.enumerated() {}",
            ],
            allowed: [
                "var peers: [Int]; for peer in peers {}",
                "var peers: [Int: String]; let one = peers[3]; peers.removeValue(forKey: 3)",
                "let seen: Set<Int>; if seen.contains(3) {}",
            ],
            findings: unorderedIteration
        ),
        Rule(
            "A core unwraps by force only what it has just made from a literal",
            in: "Sources/BLEWire/HCI/HCI.swift",
            applies: isCore,
            caught: [
                "let first = bytes.first!", "Handle(wire: wire)!.next", "table[3]! += 1", "var peer: Peer!", "x as! Y",
            ],
            allowed: ["ConnectionHandle(wire: 0x0EFF)!", "if !isOpen, a != b {}", "BluetoothUUID(\"180D\")!"],
            findings: forcedUnwraps
        ),
        Rule(
            "Wire, host and controller hold nothing unsafe",
            in: "Sources/BLEWire/Codec/Wire.swift",
            applies: { path in isCore(path) && !path.hasPrefix("Sources/BLECrypto/") },
            caught: ["unsafe pointer.load()", "bytes.withUnsafeBytes { $0.count }", "let p: UnsafeRawPointer"],
            allowed: ["// unsafe", "let isSafe = true"]
        ) { file in
            file.tokens.filter { $0.text == "unsafe" || $0.text.hasPrefix("Unsafe") || $0.text.hasPrefix("withUnsafe") }
                .map { Finding(line: $0.line, complaint: "`\($0.text)`") }
        },
        Rule(
            "An accessor yields nothing that a change of an array may move: unoptimised code reads it too late",
            in: "Sources/BLEHost/Link/ConnectionTable.swift",
            applies: { $0.hasPrefix("Sources/") && isSwift($0) },
            caught: ["_read { yield value }", "_modify { yield &values[index] }", "unsafeAddress { pointer }"],
            allowed: ["_modify { yield &value }", "get { values[index] }"],
            findings: movingYields
        ),
        Rule(
            "A packet cites the section of the Core Specification, or the document of the kernel, that defines it",
            in: "Sources/BLEWire/ATT/ATT+Writing.swift",
            applies: { $0.hasPrefix("Sources/BLEWire/") && isSwift($0) },
            caught: ["/// Writes.\nstruct Write: Packet {}", "package struct Write: Equatable, Packet {}"],
            allowed: [
                "/// Core 6.0, Vol 3, Part F, 3.4.5.\nstruct Write: Packet {}", "func next<P: Packet>() {}",
                "/// BlueZ, doc/mgmt-protocol.rst.\nstruct SetPowered: Packet {}",
            ],
            findings: uncitedPackets
        ),
    ]
}

@Sendable private func ambientRandomness(in file: SourceFile) -> [Finding] {
    let draws = ["random", "shuffled", "shuffle", "randomElement"]
    return file.positions(ofAny: draws + ["SystemRandomNumberGenerator"]).compactMap { index in
        let token = file.tokens[index]
        if token.text == "SystemRandomNumberGenerator" { return Finding(line: token.line, complaint: token.text) }
        guard index > 0, file.tokens[index - 1].text == ".", index + 1 < file.tokens.count,
            file.tokens[index + 1].text == "("
        else { return nil }
        let arguments = file.tokens[(index + 1)...file.closing(index + 1)]
        if arguments.contains(where: { $0.text == "using" }) { return nil }
        return Finding(line: token.line, complaint: "`.\(token.text)` without `using:`")
    }
}

@Sendable private func movingYields(in file: SourceFile) -> [Finding] {
    let accessors = file.positions(ofAny: ["_read", "unsafeAddress", "unsafeMutableAddress"])
        .map { Finding(line: file.tokens[$0].line, complaint: "`\(file.tokens[$0].text)`") }
    let yields = file.positions(ofAny: ["yield"]).compactMap { index -> Finding? in
        let line = file.tokens[index].line
        let isElement = file.tokens[index...].prefix { $0.line == line }.contains { $0.text == "[" }
        return isElement ? Finding(line: line, complaint: "yields an element") : nil
    }
    return accessors + yields
}

@Sendable private func forcedUnwraps(in file: SourceFile) -> [Finding] {
    file.positions(ofAny: ["!"]).compactMap { index in
        guard index > 0 else { return nil }
        let token = file.tokens[index], before = file.tokens[index - 1]
        guard token.isGlued, before.isWord || [")", "]", "?"].contains(before.text) else {
            return nil
        }
        let isInequality =
            index + 1 < file.tokens.count && file.tokens[index + 1].text == "="
            && file.tokens[index + 1].isGlued
        if isInequality || (before.text == ")" && closesLiteral(before: index - 1, in: file)) { return nil }
        return Finding(line: token.line, complaint: "`\(before.text)!`")
    }
}

/// Whether the parentheses that close at `position` hold nothing but literals and their labels.
private func closesLiteral(before position: Int, in file: SourceFile) -> Bool {
    guard let open = file.tokens[..<position].lastIndex(where: { $0.text == "(" }) else { return false }
    let arguments = file.tokens[(open + 1)..<position]
    return !arguments.isEmpty
        && arguments.indices.allSatisfy { index in
            let token = file.tokens[index]
            return !token.isWord || file.tokens[index + 1].text == ":"
        }
}

@Sendable private func uncitedPackets(in file: SourceFile) -> [Finding] {
    let packets = file.positions(ofAny: ["struct", "enum"]).filter { index in
        guard let brace = file.tokens[index...].firstIndex(where: { $0.text == "{" })
        else { return false }
        return file.tokens[index..<brace].contains { $0.text == "Packet" }
    }
    let sources = ["Core 6.", "BlueZ, doc/mgmt-protocol.rst"]
    if packets.isEmpty || sources.contains(where: file.text.contains) { return [] }
    return packets.prefix(1).map { Finding(line: file.tokens[$0].line, complaint: "no `Core 6.0, Vol …` in this file") }
}
