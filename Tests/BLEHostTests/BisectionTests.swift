import Testing

@testable import BLEHost

@Suite("Bisection")
struct BisectionTests {
    @Test("Bisection finds the index where each number is or belongs", arguments: 0..<20)
    func place(count: Int) {
        let numbers = (0..<count).map { 2 * $0 }
        for wanted in -1...2 * count {
            let place = numbers.indices.bisected { numbers[$0] < wanted }
            #expect(place == numbers.count { $0 < wanted })
        }
    }
}
