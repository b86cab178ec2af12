import Glibc

/// The arguments and environment of a program in the form that system calls take (`argv` and `envp`).
struct ProcessArguments {
    typealias Vector = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>

    /// Calls `body` with the arguments, and with a copy of this process's environment to which `variables` have been
    /// added.
    static func with<Result>(
        _ arguments: [String],
        _ variables: [String: String],
        _ body: (_ arguments: Vector, _ environment: Vector) -> Result
    ) -> Result {
        var settings: [String] = []
        var entry = environ
        while let text = entry.pointee {
            let setting = String(cString: text)
            if variables[String(setting.prefix { $0 != "=" })] == nil { settings.append(setting) }
            entry += 1
        }
        settings += variables.keys.sorted().map { "\($0)=\(variables[$0] ?? "")" }
        return vector(of: arguments) { arguments in vector(of: settings) { body(arguments, $0) } }
    }

    private static func vector<Result>(of texts: [String], _ body: (Vector) -> Result) -> Result {
        var pointers = texts.map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        return pointers.withUnsafeMutableBufferPointer { buffer in
            guard let base = buffer.baseAddress else { preconditionFailure("a vector has a terminator") }
            return body(base)
        }
    }
}
