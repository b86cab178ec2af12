import Foundation
import Testing

@testable import ObjCWords

@Suite("Overlay")
struct OverlayTests {
    /// A folder that is removed with this value.
    final class Folder {
        let url = FileManager.default.temporaryDirectory.appending(path: "objc-\(UUID().uuidString)")
        init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }
        deinit { try? FileManager.default.removeItem(at: url) }
        func write(_ data: Data, _ name: String) throws -> String {
            let file = url.appending(path: name)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try data.write(to: file)
            return file.path
        }
    }

    @Test("Only files that need changes are in the overlay, and only changed texts are reported")
    func changes() throws {
        let folder = try Folder()
        let overlay = Overlay(in: folder.url.path, module: "Lamp", package: "/lamp")
        var changed: [String] = []
        func write(_ texts: [(String, String)]) throws -> String? {
            changed = []
            return try overlay.write(ModuleRewriter(files: texts).rewrite()) { changed.append($0) }
        }
        let path = try #require(try write([("/lamp/a.swift", "@objc class A {}"), ("/lamp/b.swift", "class B {}")]))
        let text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(text.contains("/lamp/a.swift") && !text.contains("/lamp/b.swift"))
        #expect(changed == ["/lamp/a.swift"])
        #expect(try write([("/lamp/a.swift", "@objc class A {}"), ("/lamp/b.swift", "class B {}")]) == path)
        #expect(changed.isEmpty)
        _ = try write([("/lamp/a.swift", "class A {}"), ("/lamp/b.swift", "@objc class B {}")])
        #expect(changed == ["/lamp/a.swift", "/lamp/b.swift"])
        #expect(try write([("/lamp/a.swift", "class A {}")]) == nil)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty)
    }

    @Test("A file that is not UTF-8, too large or missing is left, with the reason")
    func problems() throws {
        let folder = try Folder()
        let paths = [
            try folder.write(Data([0x40, 0xFF]), "a.swift"),
            try folder.write(Data(count: SourceFiles.maximumSize + 1), "b.swift"),
            folder.url.appending(path: "c.swift").path,
            try folder.write(Data("let d = 1".utf8), "d.swift"),
        ]
        let files = SourceFiles(paths: paths)
        #expect(files.problems.map(\.path) == Array(paths[0..<3]))
        #expect(files.files.map(\.path) == [paths[3]])
    }

    @Test("The files of a package are those outside its manifest and hidden folders, divided into modules")
    func package() throws {
        let folder = try Folder()
        for name in [
            "Package.swift", "Package@swift-5.swift", "Sources/A/a.swift", "Sources/A/B/b.swift", "Sources/C/c.swift",
            ".build/checkouts/d.swift", "Tests/ATests/a.swift", "e.swift", "Sources/A/f.txt",
        ] { _ = try folder.write(Data(), name) }
        let paths = try SourceFiles.paths(inPackage: folder.url.path)
        let modules = SourceFiles.modules(of: paths, inPackage: folder.url.path)
        #expect(
            modules.map { $0.map { String($0.dropFirst(folder.url.path.count + 1)) } } == [
                ["Sources/A/B/b.swift", "Sources/A/a.swift"], ["Sources/C/c.swift"], ["Tests/ATests/a.swift"],
                ["e.swift"],
            ]
        )
    }

    @Test("The arguments of the compiler name the module and its files, also in a file of arguments")
    func arguments() throws {
        let folder = try Folder()
        let list = try folder.write(Data("\"/a/b c.swift\"\n/a/d\\ e.swift\n".utf8), "list")
        let words = [
            "-module-name", "Lamp", "@\(list)", "f.swift", "-output-file-map", "m.json", "-Xfrontend", "-x.swift",
        ]
        let call = CompilerArguments(words, in: "/here")
        #expect(call.module == "Lamp")
        #expect(call.sources == ["/a/b c.swift", "/a/d e.swift", "/here/f.swift"])
        #expect(call.outputFileMap == "/here/m.json")
        #expect(CompilerArguments(["@/nowhere"], in: "/").sources.isEmpty)
    }
}
