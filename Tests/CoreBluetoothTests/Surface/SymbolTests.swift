import Foundation
import Testing

/// What the module offers is what Apple's framework offers, to the letter.
///
/// Tests/Surface/CoreBluetooth.symbols lists it: facts about Apple's framework of 2026, in a form of our own.
@Suite("Symbols of Core Bluetooth")
struct SymbolTests {
    private let expected: ExpectedSymbols
    private let found: Set<String>

    init() throws {
        let file = Toolchain.package.appending(path: "Tests/Surface/CoreBluetooth.symbols")
        expected = ExpectedSymbols(try String(contentsOf: file, encoding: .utf8))
        found = try JSONDecoder().decode(SymbolGraph.self, from: Toolchain.symbolGraph(of: "CoreBluetooth")).lines()
    }

    @Test("All 377 symbols exist with their signatures")
    func complete() {
        #expect(expected.count == 377)
        #expect(expected.theirs.count == 377)
        #expect(expected.theirs.subtracting(found).sorted() == [])
    }

    @Test("There are no other symbols except those listed as our own")
    func pure() {
        #expect(found.subtracting(expected.theirs).subtracting(expected.ours).sorted() == [])
        #expect(expected.ours.subtracting(found).sorted() == [])
    }

    @Test("Members, conformances and deprecations are compared too")
    func reading() {
        let expected = ExpectedSymbols(
            """
            # A comment.
            open class A: NSObject, NSCopying
                public init(b: B)
                deprecated public struct B: OptionSet
                    public static var c: A.B { get }
                + open func d()
            public let e: String
            """
        )
        #expect(
            expected.theirs == [
                " > open class A: NSObject, NSCopying", "A > public init(b: B)",
                "A > deprecated public struct B: OptionSet", "A.B > public static var c: A.B { get }",
                " > public let e: String",
            ]
        )
        #expect(expected.ours == ["A > open func d()"])
        #expect(expected.count == 5)
    }
}
