/// The limits of what a host stores for strangers and clients.
///
/// | limit | at the limit |
/// | --- | --- |
/// | ``links`` | further connection requests fail with ``Failure/limitReached`` |
/// | ``pendingPeers``, ``pendingPeersOfClient`` | as above |
/// | ``queuedFrames`` | a packet for the link is dropped, with a note |
/// | ``queuedCommands`` | what a client wants of the controller fails with ``Failure/limitReached``, with a note |
/// | ``advertisers`` | the peers that were not seen for longest are forgotten |
/// | ``knownPeers`` | the one without a bond that was of use longest ago is forgotten; if all have one, none is added |
/// | ``unattendedBonds`` | of these bonds the one that was of use longest ago gives way, with a note |
/// | ``bondsWithoutUser`` | one of those gives way; without one, the peer is told that it is not bonded, with a note |
/// | ``introducedPeers`` | a new client does not receive those that were met before |
/// | ``peerServices`` | a connected peer cannot be found by further services |
/// | ``waitingReports`` | the oldest report is delivered without waiting for its scan response |
/// | ``partialReports`` | the oldest half of an advertisement is dropped, with a note |
/// | ``queuedRequests`` | the request fails with ``Failure/limitReached`` |
/// | ``queuedWriteCommands`` | the write command is dropped, with a note |
/// | ``peerRequests`` | the request is dropped, with a note |
/// | ``queuedIndications`` | the indication is dropped, with a note |
/// | ``gatheredValues`` | those that wait are sent |
/// | ``preparedParts`` | the part is refused as "prepare queue full" |
/// | ``enhancedBearers`` | further ones are refused for lack of resources |
/// | ``channelMTU`` | the channel is closed |
/// | ``channelPacket`` | the channel is closed |
/// | ``channelCredits`` | the peer is given no credits until some is consumed |
/// | ``queuedChannelOctets`` | the channel is closed with ``Failure/limitReached`` |
/// | ``discoveredAttributes`` | the discovery fails with ``Failure/limitReached``, and what was found is forgotten |
/// | ``cachedAttributes`` | nothing is kept of the peer's database when it goes |
/// | ``attributeLength`` | longer values are refused |
package struct Limits: Equatable, Sendable {
    /// Links, in both roles.
    package var links = 32
    /// Connections and pending connections of all clients together.
    package var pendingPeers = 1024
    /// Connections and pending connections of one client.
    package var pendingPeersOfClient = 256
    /// L2CAP packets of one link that wait for a controller buffer.
    package var queuedFrames = 1024
    /// Queued HCI commands.
    package var queuedCommands = 256
    /// Received peers whose address and name are stored.
    ///
    /// For half of them, their last data are stored, too, while a client scans. The calculated total is less than 20
    /// MB: 12 MB for 96 octets and a name of each of 16,384 advertisers, the maximum, and 5 MB for the addresses. A
    /// machine with more memory stores more (``init(memory:)``).
    package var advertisers = 32_768
    /// Peers that a client was or wanted to be connected to, in memory and in storage.
    package var knownPeers = 1024
    /// Peers that are bonded although neither the user nor an app wanted that; at most half of ``knownPeers``.
    package var unattendedBonds = 128
    /// Peers that are bonded without the user, those included; at most three quarters of ``knownPeers``, so that there
    /// is room for those that the user pairs with.
    package var bondsWithoutUser = 768
    /// Received peers that are reported to a new client.
    package var introducedPeers = 1024
    /// Service types of one peer that are kept between links.
    package var peerServices = 256
    /// Advertisements that wait for their scan response.
    package var waitingReports = 256
    /// Incomplete extended advertisements.
    package var partialReports = 16
    /// Queued requests of one client to one peer.
    package var queuedRequests = 512
    /// Write commands of one client to one peer that wait for its earlier requests.
    package var queuedWriteCommands = 1024
    /// Queued requests of one peer while an app answers an earlier one.
    package var peerRequests = 64
    /// Indications of one client that wait on one link for a confirmation.
    package var queuedIndications = 64
    /// Values on one link that wait to be notified together.
    package var gatheredValues = 64
    /// Prepared writes of one peer.
    package var preparedParts = 128
    /// Enhanced ATT bearers of one link.
    package var enhancedBearers = 5
    /// The MTU that this host offers on a channel, in octets, 64 to 65535.
    package var channelMTU = 4096
    /// The MPS that this host offers and sends on a channel, in octets, 64 to 65533: the payload that fills a packet on
    /// the air.
    package var channelPacket = 247
    /// Packets on a channel that were granted or not consumed, 1 to 65535.
    package var channelCredits = 64
    /// Octets that a client may have queued on one channel.
    package var queuedChannelOctets = 1 << 20
    /// Known attributes of one peer on a link.
    package var discoveredAttributes = 16_384
    /// Stored attributes of one bonded peer.
    package var cachedAttributes = 2048
    /// Octets of one attribute value.
    package var attributeLength = 512

    package init() {}
}
