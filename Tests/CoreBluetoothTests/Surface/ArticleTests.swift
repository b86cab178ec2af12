import Foundation
import Testing

/// The articles in the documentation of the modules, which apps copy from.
@Suite("Documentation articles")
struct ArticleTests {
    /// An article of a module, by the name of its file without the ending.
    struct Article: CustomTestStringConvertible {
        let module: String
        let name: String
        var testDescription: String { "\(module)/\(name)" }
        /// Articles that are tables, and have nothing to copy.
        var isTable: Bool {
            ["PortingAnApp", "KnowingTheLimits", "VariablesAndFiles", "ReadingErrorLines"].contains(name)
        }
    }

    static let modules = ["CoreBluetooth", "BLESimulation", "CoreBluetoothExtras"]

    static func folder(of module: String) -> URL {
        Toolchain.package.appending(path: "Sources/\(module)/\(module).docc")
    }

    static func text(_ name: String, of module: String) throws -> String {
        try String(contentsOf: folder(of: module).appending(path: "\(name).md"), encoding: .utf8)
    }

    /// All articles, without the pages that the modules begin with.
    static let articles = modules.flatMap { module in
        let files = try? FileManager.default.contentsOfDirectory(atPath: folder(of: module).path)
        let names = (files ?? []).filter { $0.hasSuffix(".md") }.map { String($0.dropLast(3)) }
        return names.filter { $0 != module }.sorted().map { Article(module: module, name: $0) }
    }

    @Test("Articles have examples that compile without a warning in both language modes", arguments: articles, [5, 6])
    func examples(article: Article, mode: Int) throws {
        let examples = Self.examples(in: try Self.text(article.name, of: article.module))
        #expect(examples.isEmpty == article.isTable, "every article but the tables shows how")
        let outcome = try Toolchain.compile(examples.joined(separator: "\n"), mode: mode)
        #expect(outcome.succeeded, "\(outcome.output)")
    }

    /// Pages of classes, by the name of the class.
    static let classes: [String] = {
        let classes = folder(of: "CoreBluetooth").appending(path: "Classes")
        let files = try? FileManager.default.contentsOfDirectory(atPath: classes.path)
        return (files ?? []).map { String($0.dropLast(3)) }.sorted()
    }()

    @Test("Class pages have an example that compiles without a warning", arguments: classes)
    func classExamples(name: String) throws {
        let examples = Self.examples(in: try Self.text("Classes/\(name)", of: "CoreBluetooth"))
        #expect(!examples.isEmpty && Self.classes.contains("CBCentralManager"))
        let outcome = try Toolchain.compile(examples.joined(separator: "\n"), mode: 6)
        #expect(outcome.succeeded, "\(outcome.output)")
    }

    @Test("Every article is linked from its module's page, and porting articles from their table")
    func overview() throws {
        let table = try Self.text("PortingAnApp", of: "CoreBluetooth")
        for article in Self.articles {
            let link = "<doc:\(article.name)>"
            let landing = try Self.text(article.module, of: article.module)
            #expect(landing.contains(link), "\(link)")
            guard article.module == "CoreBluetooth" else { continue }
            let isListed = ["PortingAnApp", "CrossingTasks"].contains(article.name) || table.contains(link)
            #expect(isListed, "\(link)")
        }
        #expect(Self.articles.count >= 20)
    }

    @Test("Articles refer only to existing symbols and articles", arguments: modules)
    func links(module: String) throws {
        let outcome = try Toolchain.documentation(of: module, in: Self.folder(of: module))
        #expect(outcome.succeeded, "\(outcome.output)")
    }

    @Test("Examples are extracted as written")
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
