import ArgumentParser
import BLESession

struct Links: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "links",
        abstract: "List and end the links that apps have through the daemon.",
        discussion: """
            Examples:
              ble links --json
              ble links end 5C0B0001-1111-2222-3333-444455556666
              ble links end --all
            """,
        subcommands: [List.self, End.self],
        defaultSubcommand: List.self
    )

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the links and the apps that use them.",
            discussion: """
                Examples:
                  ble links
                  ble links list --json
                """
        )

        @OptionGroup var output: OutputOptions

        @MainActor
        func run() async throws {
            let printer = Printer(output)
            try await reportingErrors {
                let links = SharedLink.all(of: try askForApps())
                if !links.isEmpty { printer.heading(SharedLink.columns) }
                for link in links { printer.print(link.fact) }
                if links.isEmpty { printer.remark("No links.") }
            }
        }
    }

    struct End: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "end",
            abstract: "End a link, no matter which apps use it.",
            discussion: """
                All apps that use the link receive a disconnection, including ended apps that will be restored. \
                Root and the daemon's user may end any link; other users, only links of their own apps.

                Examples:
                  ble links end 5C0B0001-1111-2222-3333-444455556666
                  ble links end Lamp
                  ble links end --all
                """
        )

        @Argument(help: "The peer's identifier or name, as “ble links” prints it.") var peer: String?
        @Flag(help: "End all links.") var all = false
        @OptionGroup var output: OutputOptions

        func validate() throws {
            if (peer == nil) != all { throw ValidationError("Name one peer, or use --all.") }
        }

        @MainActor
        func run() async throws {
            let printer = Printer(output)
            try await reportingErrors {
                let links = SharedLink.all(of: try askForApps())
                let meant = links.filter { link in peer.map(link.isCalled) ?? true }
                guard !meant.isEmpty else {
                    throw CommandError.noLink(peer)
                }
                for link in meant {
                    _ = try askDaemon(.endLinks(to: link.peer))
                    printer.print(Fact("link_ended", link.fact.fields, text: "\(link.title) has ended."))
                }
            }
        }
    }
}
