import Foundation

/// A folder with the rewritten files of one module, and the overlay by which the compiler reads them instead of the
/// sources.
///
/// The compiler reports the paths of the sources. The folder is brought up to date before each call of the compiler.
package struct Overlay {
    /// The description of an overlay, as the option `-vfsoverlay` of the compiler expects it.
    private struct Description: Codable {
        struct File: Codable {
            var type = "file"
            let name: String
            let contents: String
            enum CodingKeys: String, CodingKey { case type, name, contents = "external-contents" }
        }
        var version = 0
        var usesExternalNames = false
        var isCaseSensitive = true
        let roots: [File]
        enum CodingKeys: String, CodingKey {
            case version, roots, usesExternalNames = "use-external-names", isCaseSensitive = "case-sensitive"
        }
    }

    private static let fileName = "overlay.yaml"
    private let folder: URL

    /// Creates a value for the folder of a module.
    ///
    /// - Parameters:
    ///   - output: The folder that contains the folders of all modules.
    ///   - module: The name of the module.
    ///   - package: The folder of its package. Two packages may have modules of the same name.
    package init(in output: String, module: String, package: String) {
        let hash = package.utf8.reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32($1)) &* 16_777_619 }
        let name = String(module.filter { $0.isLetter || $0.isNumber || $0 == "_" }.prefix(100))
        folder = URL(fileURLWithPath: output).appending(path: "\(name)-\(String(hash, radix: 16))")
    }

    /// Writes the folder, as far as it differs from what is there.
    ///
    /// Other files than those in `files` are removed.
    ///
    /// - Parameters:
    ///   - files: The rewritten files of the module.
    ///   - changed: Called with the path of each source for which the compiler gets a new text.
    /// - Returns: The path of the overlay for the compiler; `nil` if no file needs changes.
    /// - Throws: Foundation's error if a file cannot be written.
    package func write(_ files: [RewrittenFile], changed: (String) -> Void = { _ in }) throws -> String? {
        let manager = FileManager.default
        try manager.createDirectory(at: folder, withIntermediateDirectories: true)
        var roots: [Description.File] = [], names: Set = [Self.fileName]
        for file in files {
            let name = folder.appending(path: Self.name(for: file.path))
            guard let text = file.text else {
                if manager.fileExists(atPath: name.path) { changed(file.path) }
                continue
            }
            if try replace(name, with: Data(text.utf8)) { changed(file.path) }
            names.insert(name.lastPathComponent)
            roots.append(.init(name: file.path, contents: name.path))
        }
        for name in try manager.contentsOfDirectory(atPath: folder.path) where !names.contains(name) {
            try? manager.removeItem(at: folder.appending(path: name))
        }
        guard !roots.isEmpty else {
            try manager.removeItem(at: folder)
            return nil
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let overlay = folder.appending(path: Self.fileName)
        try replace(overlay, with: encoder.encode(Description(roots: roots)))
        return overlay.path
    }

    /// Returns the name of a copy.
    ///
    /// It contains a checksum of the path, because folders may have files of the same name.
    private static func name(for path: String) -> String {
        let hash = path.utf8.reduce(UInt64(14_695_981_039_346_656_037)) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 }
        return "\(String(hash, radix: 16))-\(URL(fileURLWithPath: path).lastPathComponent)"
    }

    /// Writes a file unless it has this content, and returns true if it was written.
    @discardableResult
    private func replace(_ file: URL, with content: Data) throws -> Bool {
        if let present = try? Data(contentsOf: file), present == content { return false }
        try content.write(to: file, options: .atomic)
        return true
    }
}
