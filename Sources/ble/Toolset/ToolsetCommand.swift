import ArgumentParser
import Foundation

/// The command that makes the modules of this project available to Swift toolchains, so that packages can import them
/// without declaring a dependency.
struct ToolsetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "toolset",
        abstract: "Make “import CoreBluetooth” work in packages without a dependency for it.",
        discussion: """
            Packages for Apple's systems import CoreBluetooth without a dependency. On Linux, there are two ways to \
            build them; both also provide BLESimulation, for tests, and CoreBluetoothExtras:

            With a folder DIR, the library, the modules and a file for SwiftPM are written to it; nothing else is \
            changed. Builds then need one option: swift build --toolset DIR/toolset.json

            With --install, the library and the modules are added to the toolchain, and builds need no option; \
            --uninstall removes them again. Both may need sudo.

            --compat adds modules to DIR that other people's code imports and Linux lacks: os, OSLog, Combine, \
            CryptoKit, and a few names of CoreLocation, ObjectiveC and UIKit. docs/TOOLSET.md has a table of their \
            contents. Code under #if canImport(Combine) is still left out, as without --compat, because packages that \
            test for it have a branch for Linux. --can-import NAME makes the condition true in one package; NAME is \
            the package or one of its modules.

            --objc FOLDER also translates Objective-C interoperability in the package in FOLDER, such as @objc, \
            #selector and optional protocol methods, and reports what was translated and what was left. The package's \
            own files are not changed: the compiler reads copies, which are updated whenever a file changes. --objc \
            includes --compat, and needs the program ble-objc from Tools/ObjC.

            The toolchain is the one in PATH, or that of --toolchain. The modules work only with the compiler version \
            they were built with. They are part of the Debian package corebluetooth-swift; in a checkout, \
            Packaging/toolset.sh builds them.

            Examples:
              ble toolset bluetooth             write the folder “bluetooth”
              ble toolset --check bluetooth     compile and run a program with it
              ble toolset --compat compat       also add os, Combine, CryptoKit and others
              ble toolset --compat --can-import lamp compat
                                                the same, with canImport true in “lamp”
              ble toolset --objc Lamp compat    the same, and translate @objc etc. in “Lamp”
              ble toolset --uninstall compat    remove the folder “compat”
              ble toolset --install             add the modules to the toolchain in PATH
              ble toolset --check               compile and run a program with the toolchain
              ble toolset --uninstall           remove the modules from the toolchain
            """
    )

    @Argument(help: "The folder to write, to check, or to remove.")
    var folder: String?
    @Flag(help: "Install the modules in the toolchain.")
    var install = false
    @Flag(help: "Remove the folder; without a folder, remove the modules from the toolchain.")
    var uninstall = false
    @Flag(help: "Compile and run a program that imports CoreBluetooth.")
    var check = false
    @Flag(help: "Also write the modules os, OSLog, Combine, CoreLocation, CryptoKit, ObjectiveC and UIKit.")
    var compat = false
    @Option(
        help: ArgumentHelp(
            "The name of a package or module in which #if canImport(Combine) is true. Repeatable.",
            valueName: "name"
        )
    )
    var canImport: [String] = []
    @Option(
        help: ArgumentHelp(
            "The folder of a package whose Objective-C interoperability is translated. Repeatable.",
            valueName: "folder"
        )
    )
    var objc: [String] = []
    @Flag(help: "Print the report of --objc as one JSON object per line.")
    var json = false
    @Option(help: ArgumentHelp("The folder of the toolchain (default: the one in PATH).", valueName: "path"))
    var toolchain: String?
    @Option(
        help: ArgumentHelp(
            "The folder of the built modules (default: those installed with ble, or those in its checkout).",
            valueName: "folder"
        )
    )
    var from: String?

    func validate() throws {
        guard [install, uninstall, check].count(where: { $0 }) <= 1 else {
            throw ValidationError("Only one of --install, --uninstall and --check can be used at a time.")
        }
        guard install || uninstall || check || folder != nil else {
            throw ValidationError("Name a folder for the toolset, or use --install.")
        }
        guard folder == nil || !install else {
            throw ValidationError("--install writes to the toolchain; leave out the folder.")
        }
        guard !isCompatible || !uninstall && !check else {
            let action = uninstall ? "--uninstall" : "--check"
            throw ValidationError("\(compat ? "--compat" : "--objc") has no effect with \(action); leave it out.")
        }
        guard !isCompatible || folder != nil else {
            let options = compat ? "--compat" : "--objc FOLDER"
            throw ValidationError(
                """
                \(compat ? "--compat" : "--objc") needs a folder: “ble toolset \(options) DIR”. In the toolchain, its \
                modules would change #if canImport(Combine) for every package.
                """
            )
        }
        guard isCompatible || canImport.isEmpty else {
            throw ValidationError("--can-import has an effect only with --compat; add --compat.")
        }
        guard !json || !objc.isEmpty else { throw ValidationError("--json is for the report of --objc; add --objc.") }
        let isName = canImport.allSatisfy { !$0.isEmpty && !$0.contains(",") }
        guard isName else { throw ValidationError("--can-import takes the name of one package; repeat it for others.") }
        guard from == nil || !uninstall && !check else {
            throw ValidationError("--from has no effect unless modules are written; leave it out.")
        }
    }

    func run() throws {
        try reportingToolsetError {
            let toolchain = try Toolchain(at: toolchain), installed = InstalledModules(in: toolchain)
            let toolset = folder.map { ToolsetFolder(folder: URL(fileURLWithPath: $0).absoluteURL.standardizedFileURL) }
            if uninstall, let toolset {
                try toolset.remove()
                print("Removed the toolset \(toolset.folder.path).")
            } else if uninstall {
                try installed.uninstall()
                print("The toolchain of \(toolchain.compiler) no longer has the Core Bluetooth modules.")
            } else if check {
                try ToolsetCheck(toolchain: toolchain, toolset: toolset).run()
                print("A program that imports CoreBluetooth compiles and runs.")
            } else if let toolset {
                var compatibility = isCompatible ? ToolsetFolder.Compatibility(names: canImport) : nil
                if !objc.isEmpty { compatibility?.objectiveC = try reported() }
                try toolset.write(modules(), for: toolchain, compatibility: compatibility)
                guard !json else { return }
                print("Use the toolset with: swift build --toolset \(toolset.file.path)")
            } else {
                try installed.install(modules())
                print("\(toolchain.compiler) now finds CoreBluetooth. Use it with: swift build")
            }
        }
    }

    /// True if the toolset gets the modules that stand in for those of Apple's systems.
    private var isCompatible: Bool { compat || !objc.isEmpty }

    /// Prints the report on the packages of `--objc`, and returns their folders.
    private func reported() throws(ToolsetError) -> (rewriter: ObjectiveCRewriter, packages: [String]) {
        let environment = ProcessInfo.processInfo.environment
        let rewriter = try ObjectiveCRewriter(besides: program, environment: environment)
        let packages = objc.map { URL(fileURLWithPath: $0).absoluteURL.standardizedFileURL.path }
        for package in packages {
            for line in try rewriter.report(on: package, asJSON: json).split(separator: "\n") { print(String(line)) }
        }
        return (rewriter, packages)
    }

    private var program: URL { URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath() }

    private func modules() throws(ToolsetError) -> BuiltModules {
        if let from { return try BuiltModules(in: URL(fileURLWithPath: from).absoluteURL) }
        return try BuiltModules(besides: program)
    }

    private func print(_ line: String) { StandardOutput.write(line: line) }
}
