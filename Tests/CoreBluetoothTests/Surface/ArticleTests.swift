import Foundation
import Testing

/// The articles in the documentation of the module, which apps copy from.
@Suite("Articles")
struct ArticleTests {
    static let folder = Toolchain.package.appending(path: "Sources/CoreBluetooth/CoreBluetooth.docc")

    static let articles = {
        let files = try? FileManager.default.contentsOfDirectory(atPath: folder.path)
        return (files ?? []).filter { $0.hasSuffix(".md") && $0 != "CoreBluetooth.md" }.sorted()
    }()

    @Test("have examples that compile without a warning in both language modes", arguments: articles, [5, 6])
    func examples(article: String, mode: Int) throws {
        let text = try String(contentsOf: Self.folder.appending(path: article), encoding: .utf8)
        let examples = Self.examples(in: text)
        #expect(examples.isEmpty == (article == "PortingAnApp.md"), "every article but the overview shows how")
        let outcome = try Toolchain.compile(examples.joined(separator: "\n"), mode: mode)
        #expect(outcome.succeeded, "\(outcome.output)")
    }

    @Test("are all named in the overview")
    func overview() throws {
        let landing = try String(contentsOf: Self.folder.appending(path: "CoreBluetooth.md"), encoding: .utf8)
        let table = try String(contentsOf: Self.folder.appending(path: "PortingAnApp.md"), encoding: .utf8)
        for article in Self.articles {
            let link = "<doc:\(article.dropLast(".md".count))>"
            #expect(landing.contains(link), "\(link)")
            let isListed = ["PortingAnApp.md", "CrossingTasks.md"].contains(article) || table.contains(link)
            #expect(isListed, "\(link)")
        }
        #expect(Self.articles.count >= 10)
    }

    @Test("name symbols and articles that exist")
    func links() throws {
        let outcome = try Toolchain.documentation(of: "CoreBluetooth", in: Self.folder)
        #expect(outcome.succeeded, "\(outcome.output)")
    }

    @Test("are read as they are written")
    func reading() {
        let text =
            "# A\n\n```swift\nlet a = 1\n```\n\nText\n\n```\nno Swift\n```\n```swift\nlet b = 2\nlet c = 3\n```\n"
        #expect(Self.examples(in: text) == ["let a = 1", "let b = 2\nlet c = 3"])
    }

    /// What stands in fences that are marked as Swift.
    static func examples(in text: String) -> [String] {
        var examples: [String] = []
        var lines: [Substring]?
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line == "```swift" {
                lines = []
            } else if line == "```" {
                if let lines { examples.append(lines.joined(separator: "\n")) }
                lines = nil
            } else {
                lines?.append(line)
            }
        }
        return examples
    }
}
