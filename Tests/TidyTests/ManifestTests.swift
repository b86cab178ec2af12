import Foundation
import Testing

/// What `Package.swift` says of its targets, read from its text.
struct Manifest {
    struct Target {
        let name: String
        let dependencies: Set<String>
        let isTest: Bool
    }

    let targets: [Target]
    /// Targets that only tell apps of modules of C, which nobody here imports.
    let systemLibraries: Set<String>

    init(_ file: SourceFile) {
        let constants = Self.constants(in: file)
        systemLibraries = Set(
            file.positions(of: [".", "systemLibrary", "("]).compactMap { start in
                file.tokens[start...].lazy.compactMap(\.literal).first
            }
        )
        targets = file.tokens.indices.compactMap { index -> Target? in
            let kind = file.tokens[index].text
            guard ["target", "executableTarget", "testTarget"].contains(kind), index > 0,
                file.tokens[index - 1].text == ".",
                file.tokens[index + 1].text == "("
            else { return nil }
            let end = file.closing(index + 1)
            guard let name = file.tokens[index...end].lazy.compactMap(\.literal).first else { return nil }
            let list = (index..<end).first { file.tokens[$0].text == "dependencies" }
            let dependencies = list.map { file.dependencies(from: $0 + 2, constants: constants) } ?? []
            return Target(name: name, dependencies: dependencies, isTest: kind == "testTarget")
        }
    }

    /// Lists of dependencies that have a name of their own.
    private static func constants(in file: SourceFile) -> [String: Set<String>] {
        var constants: [String: Set<String>] = [:]
        for index in file.positions(of: ["let"]) {
            guard let equals = file.tokens[index...].firstIndex(where: { $0.text == "=" }) else { continue }
            constants[file.tokens[index + 1].text] = file.dependencies(from: equals + 1, constants: [:])
        }
        return constants
    }
}

extension SourceFile {
    /// The names in the expression that begins at `start` and ends at a comma outside all brackets.
    fileprivate func dependencies(from start: Int, constants: [String: Set<String>]) -> Set<String> {
        var names: Set<String> = []
        var position = start
        while position < tokens.count, ![",", ")", "let"].contains(tokens[position].text) {
            let end = ["[", "("].contains(tokens[position].text) ? closing(position) : position
            for index in position...end {
                let isPackage = index > 1 && tokens[index - 2].text == "package"
                if let literal = tokens[index].literal, !isPackage { names.insert(literal) }
                let isLabel = index + 1 < tokens.count && tokens[index + 1].text == ":"
                if !isLabel { names.formUnion(constants[tokens[index].text] ?? []) }
            }
            position = end + 1
        }
        return names
    }
}

@Suite("Package manifest")
struct ManifestTests {
    let manifest: Manifest
    let modules: Set<String>

    init() throws {
        manifest = Manifest(try #require(SourceFile.all.first { $0.path == "Package.swift" }))
        modules = manifest.targets.reduce(into: []) { $0.formUnion($1.dependencies.union([$1.name])) }
    }

    @Test("A manifest is parsed correctly")
    func reading() throws {
        let text = """
            let crypto: [Target.Dependency] = [.product(name: "Crypto", package: "swift-crypto")]
            let package = Package(targets: [
                .systemLibrary(name: "S"),
                .target(name: "A", swiftSettings: core),
                .target(name: "B", dependencies: ["A"] + crypto, swiftSettings: core),
                .testTarget(name: "BTests", dependencies: ["B", "A"]),
            ])
            """
        let manifest = Manifest(SourceFile(path: "Package.swift", text: text)), targets = manifest.targets
        #expect(manifest.systemLibraries == ["S"])
        #expect(targets.map(\.name) == ["A", "B", "BTests"])
        #expect(targets.map(\.dependencies) == [[], ["A", "Crypto"], ["B", "A"]])
        #expect(targets.map(\.isTest) == [false, false, true])
    }

    @Test(
        "Warnings are errors in our own builds, but not for packages that depend on this one",
        arguments: [("work", true), (".build/checkouts", false), (".build/registry/downloads/one", false)]
    )
    func warnings(place: String, areErrors: Bool) throws {
        let root = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        let folder = root.appending(path: place).appending(path: "package")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: root) }
        try FileManager.default.copyItem(
            at: SourceFile.root.appending(path: "Package.swift"),
            to: folder.appending(path: "Package.swift")
        )
        let process = Process(), pipe = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["swift", "package", "--package-path", folder.path, "dump-package"]
        process.standardOutput = pipe
        try process.run()
        let text = String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(text.contains("treatAllWarnings") == areErrors)
    }

    @Test("Each target's dependencies are exactly the modules it imports")
    func dependenciesAreImports() {
        for target in manifest.targets {
            let files = SourceFile.all.filter { $0.target == target.name[...] }
            // Who imports its own name has a module of C that bears it, too.
            let others = modules.subtracting([target.name])
            let imported = Set(files.flatMap { $0.imports.map(\.text) }).intersection(others)
            #expect(imported.subtracting(target.dependencies) == [], "\(target.name) imports what it does not declare")
            let declared = target.dependencies.subtracting(manifest.systemLibraries)
            #expect(declared.subtracting(imported) == [], "\(target.name) declares what it does not import")
        }
    }

    @Test("No module is in two layers: cores depend only on cores, and nothing depends on a program")
    func layers() {
        let layers = Dictionary(uniqueKeysWithValues: manifest.targets.map { ($0.name, $0.dependencies) })
        let ours = Set(layers.keys)
        for core in coreModules {
            #expect((layers[core] ?? ["missing"]).intersection(ours).isSubset(of: coreModules), "\(core)")
        }
        #expect(layers["BLEHost"]?.contains("BLEController") == false)
        #expect(layers["BLEController"]?.contains("BLEHost") == false)
    }
}
