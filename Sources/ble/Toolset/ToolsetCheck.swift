import BLERuntime
import Foundation

/// A check that compiles and runs a program that imports CoreBluetooth.
struct ToolsetCheck {
    /// A program that prints a UUID and the initial state of a manager.
    private static let program = """
        import CoreBluetooth
        let central = CBCentralManager(delegate: nil, queue: nil)
        print(CBUUID(string: "180D").uuidString, central.state.rawValue)

        """

    let toolchain: Toolchain
    /// The toolset folder to compile with; `nil` if the modules are installed in the toolchain.
    let toolset: ToolsetFolder?

    func run() throws(ToolsetError) {
        let folder = FileManager.default.temporaryDirectory.appending(path: "ble-toolset-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let source = folder.appending(path: "check.swift"), program = folder.appending(path: "check")
        let compiler = try toolset?.compiler(of: toolchain) ?? (path: toolchain.compiler, options: [])
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data(Self.program.utf8).write(to: source)
            let compilation = try CommandRun(
                compiler.path,
                compiler.options + [source.path, "-o", program.path, "-module-cache-path", folder.path],
                in: folder
            )
            guard compilation.status == 0 else {
                throw ToolsetError.checkFailed(step: "compile", output: compilation.output)
            }
            let execution = try CommandRun(program.path, [], environment: ["BLUETOOTH_HOST": "demo"], in: folder)
            guard execution.status == 0, execution.output.contains("180D") else {
                throw ToolsetError.checkFailed(step: "run (status \(execution.status))", output: execution.output)
            }
        } catch let error as ToolsetError {
            throw error
        } catch {
            throw .unusableFile(folder.path, reason: SystemFile.reason(for: error, at: folder.path))
        }
    }
}
