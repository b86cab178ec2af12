import ArgumentParser
import BLESession

struct Links: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show and end the links that apps keep through the daemon.",
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
            abstract: "Show the links, and which apps keep them.",
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
            try await reportingTrouble {
                let links = SharedLink.all(of: try askForApps())
                if !links.isEmpty { printer.heading(SharedLink.columns) }
                for link in links { printer.print(link.fact) }
                if links.isEmpty { printer.remark("No app keeps a link.") }
            }
        }
    }

    struct End: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "End a link whichever apps keep it.",
            discussion: """
                The apps are told that they are disconnected, those that have ended and are to be restored as well. \
                Root and the user of the daemon end links of all apps, others those of their own.

                Examples:
                  ble links end 5C0B0001-1111-2222-3333-444455556666
                  ble links end Lamp
                  ble links end --all
                """
        )

        @Argument(help: "The peer's identifier or its name, as “ble links” prints them.") var peer: String?
        @Flag(help: "End all links.") var all = false
        @OptionGroup var output: OutputOptions

        func validate() throws {
            if (peer == nil) != all { throw ValidationError("Name one peer, or all of them with --all.") }
        }

        @MainActor
        func run() async throws {
            let printer = Printer(output)
            try await reportingTrouble {
                let links = SharedLink.all(of: try askForApps())
                let meant = links.filter { link in peer.map(link.isCalled) ?? true }
                guard !meant.isEmpty else { throw Trouble.daemonRefused("no app has a link to \(peer ?? "anybody")") }
                for link in meant {
                    _ = try askDaemon(.endLinks(to: link.peer))
                    printer.print(Fact("link_ended", link.fact.fields, text: "\(link.title) has ended."))
                }
            }
        }
    }
}
