import Foundation

/// A source file that the rewriter reads, or the reason why it does not.
///
/// A file that cannot be rewritten is compiled as it is.
package struct SourceFiles: Sendable {
    /// The largest size of a file that is rewritten, in octets.
    package static let maximumSize = 4 * 1024 * 1024
    /// The largest number of files that are rewritten.
    package static let maximumCount = 20_000

    /// A file that is not rewritten.
    package struct Problem: Hashable, Sendable {
        package let path: String
        package let reason: String
    }

    /// The paths and texts of the files.
    package private(set) var files: [(path: String, text: String)] = []
    package private(set) var problems: [Problem] = []

    /// Reads files.
    package init(paths: [String]) {
        for (count, path) in paths.enumerated() {
            guard count < Self.maximumCount else {
                problems.append(Problem(path: path, reason: "there are more than \(Self.maximumCount) files"))
                continue
            }
            do {
                let attributes = try FileManager.default.attributesOfItem(atPath: path)
                guard attributes[.size] as? Int ?? 0 <= Self.maximumSize else {
                    problems.append(Problem(path: path, reason: "it is larger than \(Self.maximumSize) octets"))
                    continue
                }
                let octets = try Data(contentsOf: URL(fileURLWithPath: path))
                if let text = String(validating: octets, as: UTF8.self) {
                    files.append((path, text))
                } else {
                    problems.append(Problem(path: path, reason: "it is not UTF-8"))
                }
            } catch {
                problems.append(Problem(path: path, reason: error.localizedDescription))
            }
        }
    }

    /// Returns the paths of a package's Swift files, sorted, without its manifests and hidden folders.
    ///
    /// - Throws: Foundation's error if the folder cannot be read.
    package static func paths(inPackage folder: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder).filter { path in
            path.hasSuffix(".swift") && !path.hasPrefix("Package.swift") && !path.hasPrefix("Package@")
                && !path.split(separator: "/").contains { $0.hasPrefix(".") }
        }.sorted().map { folder + "/" + $0 }
    }

    /// Divides the files of a package into groups that are likely to be modules.
    ///
    /// The folders in `Sources` and `Tests` are modules. The compiler's arguments say it precisely, but a report is
    /// made before it runs.
    package static func modules(of paths: [String], inPackage folder: String) -> [[String]] {
        var names: [String] = [], modules: [String: [String]] = [:]
        for path in paths {
            let parts = path.dropFirst(folder.count + 1).split(separator: "/")
            let isDivided = parts.count > 2 && ["Sources", "Source", "Tests"].contains(parts[0])
            let name = parts.prefix(isDivided ? 2 : 1).joined(separator: "/")
            if modules[name] == nil { names.append(name) }
            modules[name, default: []].append(path)
        }
        return names.map { modules[$0] ?? [] }
    }
}
