CREATE TABLE [Artist] ([ArtistId] INTEGER NOT NULL, [Name] NVARCHAR(120), CONSTRAINT [PK_Artist] PRIMARY KEY ([ArtistId]));
CREATE TABLE [Album] ([AlbumId] INTEGER NOT NULL, [Title] NVARCHAR(160) NOT NULL, [ArtistId] INTEGER NOT NULL,
  CONSTRAINT [PK_Album] PRIMARY KEY ([AlbumId]),
  FOREIGN KEY ([ArtistId]) REFERENCES [Artist] ([ArtistId]) ON DELETE NO ACTION ON UPDATE NO ACTION);
CREATE TABLE [Genre] ([GenreId] INTEGER NOT NULL, [Name] NVARCHAR(120), CONSTRAINT [PK_Genre] PRIMARY KEY ([GenreId]));
CREATE TABLE [Track] ([TrackId] INTEGER NOT NULL, [Name] NVARCHAR(200) NOT NULL, [AlbumId] INTEGER, [GenreId] INTEGER,
  [Composer] NVARCHAR(220), [Milliseconds] INTEGER NOT NULL, [UnitPrice] NUMERIC(10,2) NOT NULL,
  CONSTRAINT [PK_Track] PRIMARY KEY ([TrackId]),
  FOREIGN KEY ([AlbumId]) REFERENCES [Album] ([AlbumId]), FOREIGN KEY ([GenreId]) REFERENCES [Genre] ([GenreId]));
CREATE TABLE [Playlist] ([PlaylistId] INTEGER NOT NULL, [Name] NVARCHAR(120), CONSTRAINT [PK_Playlist] PRIMARY KEY ([PlaylistId]));
CREATE TABLE [PlaylistTrack] ([PlaylistId] INTEGER NOT NULL, [TrackId] INTEGER NOT NULL,
  CONSTRAINT [PK_PlaylistTrack] PRIMARY KEY ([PlaylistId], [TrackId]),
  FOREIGN KEY ([PlaylistId]) REFERENCES [Playlist] ([PlaylistId]), FOREIGN KEY ([TrackId]) REFERENCES [Track] ([TrackId]));
CREATE TABLE [Employee] ([EmployeeId] INTEGER NOT NULL, [LastName] NVARCHAR(20) NOT NULL, [FirstName] NVARCHAR(20) NOT NULL,
  [Title] NVARCHAR(30), [ReportsTo] INTEGER, [HireDate] DATETIME, CONSTRAINT [PK_Employee] PRIMARY KEY ([EmployeeId]),
  FOREIGN KEY ([ReportsTo]) REFERENCES [Employee] ([EmployeeId]));
CREATE TABLE [Customer] ([CustomerId] INTEGER NOT NULL, [FirstName] NVARCHAR(40) NOT NULL, [LastName] NVARCHAR(20) NOT NULL,
  [Country] NVARCHAR(40), [SupportRepId] INTEGER, CONSTRAINT [PK_Customer] PRIMARY KEY ([CustomerId]),
  FOREIGN KEY ([SupportRepId]) REFERENCES [Employee] ([EmployeeId]));
CREATE TABLE [Invoice] ([InvoiceId] INTEGER NOT NULL, [CustomerId] INTEGER NOT NULL, [InvoiceDate] DATETIME NOT NULL,
  [Total] NUMERIC(10,2) NOT NULL, CONSTRAINT [PK_Invoice] PRIMARY KEY ([InvoiceId]),
  FOREIGN KEY ([CustomerId]) REFERENCES [Customer] ([CustomerId]));
CREATE TABLE [InvoiceLine] ([InvoiceLineId] INTEGER NOT NULL, [InvoiceId] INTEGER NOT NULL, [TrackId] INTEGER NOT NULL,
  [UnitPrice] NUMERIC(10,2) NOT NULL, [Quantity] INTEGER NOT NULL, CONSTRAINT [PK_InvoiceLine] PRIMARY KEY ([InvoiceLineId]),
  FOREIGN KEY ([InvoiceId]) REFERENCES [Invoice] ([InvoiceId]), FOREIGN KEY ([TrackId]) REFERENCES [Track] ([TrackId]));
CREATE INDEX [IFK_AlbumArtistId] ON [Album] ([ArtistId]);
INSERT INTO [Artist] VALUES (1, 'Salt Choir'), (2, 'The Otters'), (3, 'Ysé Brandão');
INSERT INTO [Album] VALUES (1, 'Harbour Songs', 1), (2, 'River, Slow', 2), (3, 'Ice', 1);
INSERT INTO [Genre] VALUES (1, 'Choral'), (2, 'Folk');
INSERT INTO [Track] VALUES (1, 'Foam', 1, 1, NULL, 201000, 0.99), (2, 'Bank', 2, 2, 'O. Reed', 185500, 1.99),
  (3, 'Floe', 3, 1, NULL, 333000, 0.99), (4, 'Lost Tape', NULL, 2, NULL, 61000, 0.99);
INSERT INTO [Playlist] VALUES (1, 'Morning'), (2, 'Evening');
INSERT INTO [PlaylistTrack] VALUES (1, 1), (1, 2), (2, 2), (2, 4);
INSERT INTO [Employee] VALUES (1, 'Marsh', 'Ada', 'Manager', NULL, '2012-05-01 00:00:00'), (2, 'Fenn', 'Bo', 'Agent', 1, '2014-01-15 00:00:00'),
  (3, 'Tarn', 'Cy', 'Agent', 1, '2015-03-02 00:00:00');
INSERT INTO [Customer] VALUES (1, 'Dora', 'Lake', 'Norway', 2), (2, 'Emil', 'Pond', 'Brazil', 3), (3, 'Fay', 'Brook', 'Norway', 2);
INSERT INTO [Invoice] VALUES (1, 1, '2021-01-03 00:00:00', 2.98), (2, 3, '2021-02-11 00:00:00', 0.99);
INSERT INTO [InvoiceLine] VALUES (1, 1, 1, 0.99, 1), (2, 1, 2, 1.99, 1), (3, 2, 4, 0.99, 1);
