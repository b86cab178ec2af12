/// A running program, with its process number.
package struct RunningProgram: Equatable, Sendable, CustomStringConvertible {
    package let process: Int32
    package let name: String

    package init(process: Int32, name: String) {
        self.process = process
        self.name = name
    }

    package var description: String { "\(name) (process \(process))" }

    /// Returns the running programs that have a file open whose name satisfies `isMeant`, lowest process number first.
    ///
    /// The process `own` is left out, and programs whose files below `root` cannot be read are missing.
    static func all(below root: String, but own: Int32, having isMeant: (String) -> Bool) -> [Self] {
        SystemFile.names(in: root + "/proc").compactMap { Int32($0) }.filter { $0 != own }.sorted()
            .compactMap { process in
                let folder = "\(root)/proc/\(process)"
                let isOne = SystemFile.names(in: folder + "/fd").contains { file in
                    SystemFile.target(of: "\(folder)/fd/\(file)").map(isMeant) ?? false
                }
                guard isOne, let name = SystemFile.line(of: folder + "/comm") else { return nil }
                return Self(process: process, name: name)
            }
    }
}
