import Testing

@testable import CoreBluetooth

@Suite("Send window")
struct SendWindowTests {
    @Test("The window closes when it is full, and reopens once when half has been sent")
    func course() {
        var window = SendWindow()
        for _ in 1..<SendWindow.size {
            window.submit()
            #expect(window.isOpen)
        }
        window.submit()
        #expect(!window.isOpen)
        #expect(window.taken(SendWindow.size / 2 - 1) == .nothing)
        #expect(!window.isOpen)
        #expect(window.taken(1) == .reopened(wasRefused: false))
        #expect(window.isOpen)
        #expect(window.taken(1) == .nothing)
        #expect(window.outstanding == SendWindow.size / 2 - 1)
    }

    @Test("Values sent while the window is closed count too")
    func beyond() {
        var window = SendWindow()
        for _ in 0..<(SendWindow.size * 2) { window.submit() }
        #expect(window.taken(SendWindow.size) == .nothing)
        #expect(!window.isOpen)
        #expect(window.taken(SendWindow.size) == .reopened(wasRefused: false))
    }

    @Test("More sent values than expected do no harm")
    func surplus() {
        var window = SendWindow()
        window.submit()
        #expect(window.taken(100) == .nothing)
        #expect(window.outstanding == 0)
        #expect(window.isOpen)
    }

    @Test("The window tells whether a value was refused since it closed")
    func refused() {
        var window = SendWindow()
        window.refuse()
        for _ in 0..<SendWindow.size { window.submit() }
        window.refuse()
        #expect(!window.isOpen)
        #expect(window.outstanding == SendWindow.size)
        #expect(window.taken(1) == .nothing)
        #expect(window.taken(SendWindow.size) == .reopened(wasRefused: true))
        for _ in 0..<SendWindow.size { window.submit() }
        #expect(window.taken(SendWindow.size) == .reopened(wasRefused: false))
    }
}
